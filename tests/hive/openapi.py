"""openapi.py - is a description of an interface sound, and does an answer fit it? By jsonschema: of OpenAPI 3.0 the parts that we use."""
import copy

import jsonschema

METHODS = {"get", "post", "put", "delete"}


def as_schema(node):
    """OpenAPI's `nullable` in JSON Schema."""
    if isinstance(node, list):
        return [as_schema(x) for x in node]
    if not isinstance(node, dict):
        return node
    node = {k: as_schema(v) for k, v in node.items()}
    if node.pop("nullable", False) is True:
        node["type"] = [node["type"], "null"]
    return node


def resolve(doc, node):
    while "$ref" in node:
        at = doc
        for part in node["$ref"].removeprefix("#/").split("/"):
            at = at[part]
        node = at
    return node


def references(node):
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for x in node.values():
            yield from references(x)
    elif isinstance(node, list):
        for x in node:
            yield from references(x)


def check(doc):
    """A list of what is wrong."""
    wrong, ids = [], set()
    if not doc.get("openapi", "").startswith("3.0.") or not doc["info"].get("title") or not doc["info"].get("version"):
        wrong.append("no head of OpenAPI 3.0")
    for ref in references(doc):
        try:
            resolve(doc, {"$ref": ref})
        except KeyError:
            wrong.append(f"{ref} leads nowhere")
    for name, schema in doc["components"]["schemas"].items():
        try:
            jsonschema.Draft4Validator.check_schema(as_schema(copy.deepcopy(schema)))
        except jsonschema.SchemaError as e:
            wrong.append(f"{name}: {e.message}")
    for path, item in doc["paths"].items():
        for method, op in item.items():
            where = f"{method} {path}"
            if method not in METHODS or not op.get("responses") or op.get("operationId") in ids:
                wrong.append(where)
            ids.add(op.get("operationId"))
            named = {resolve(doc, p)["name"] for p in op.get("parameters", []) if resolve(doc, p)["in"] == "path"}
            if named != {x[1:-1] for x in path.split("/") if x.startswith("{")}:
                wrong.append(f"{where}: parameters of the path")
            for status, response in op["responses"].items():
                if not resolve(doc, response).get("description"):
                    wrong.append(f"{where} {status}: no description")
            for need in op.get("security", []):
                wrong += [f"{where}: {n}" for n in need if n not in doc["components"]["securitySchemes"]]
    return wrong


def fits(doc, method, path, status, answer):
    """Empty, or why this answer is not as described."""
    try:
        response = resolve(doc, doc["paths"][path][method]["responses"][str(status)])
    except KeyError:
        return f"{method} {path}: {status} is not described"
    content = response["content"].get("application/json")
    if not content:
        return ""
    schema = as_schema({**copy.deepcopy(content["schema"]), "components": copy.deepcopy(doc["components"])})
    errors = list(jsonschema.Draft4Validator(schema).iter_errors(answer))
    return f"{method} {path} {status}: {errors[0].message}" if errors else ""
