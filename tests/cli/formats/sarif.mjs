// sarif.mjs FILE... - is each file a log of SARIF 2.1.0, by the schema that its authors publish? Prints "valid", or what is wrong.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const Ajv = require('ajv/dist/2020.js').default, formats = require('ajv-formats').default;
const root = new URL('../../../node_modules/@microsoft/sarif-multitool-ts/assets/', import.meta.url);
const ajv = new Ajv({ strict: false });
formats(ajv);
const check = ajv.compile(JSON.parse(readFileSync(new URL('sarif-2.1.0.schema.json', root), 'utf8')));
for (const name of process.argv.slice(2)) {
    if (check(JSON.parse(readFileSync(name, 'utf8')))) continue;
    console.log(`${name}: ${check.errors[0].instancePath} ${check.errors[0].message}`);
    process.exit(1);
}
console.log('valid');
