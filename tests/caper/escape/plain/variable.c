/* A variable that is not compiled by us. */
void *plain_variable;
