/* Code that is not compiled by us, and keeps a pointer that it gets in bytes. */
static union {
    unsigned char bytes[sizeof(void *)];
    void *pointer;
} kept;

void plain_keep_byte(int i, unsigned char byte)
{
    kept.bytes[i] = byte;
}

void *plain_get_bytes(void)
{
    return kept.pointer;
}
