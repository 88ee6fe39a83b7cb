#!/usr/bin/env python3
# validate.py SCHEMA FILE... - is each file a document of the schema? Prints "valid", or the first thing that is wrong.
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1], encoding="utf-8"))
jsonschema.Draft202012Validator.check_schema(schema)
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as f:
        document = json.load(f)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
        path = "/".join(str(p) for p in error.absolute_path)
        sys.exit("%s: %s: %s" % (name, path, error.message[:300]))
print("valid")
