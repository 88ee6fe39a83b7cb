// openapi.mjs FILE - is it a valid description of an interface, as others read it?
import SwaggerParser from '@apidevtools/swagger-parser';

try {
    const api = await SwaggerParser.validate(process.argv[2]);
    console.log(Object.keys(api.paths).length > 10 ? 'ok hive/page/openapi-is-valid' : 'FAIL hive/page/openapi-is-valid: it has few paths');
} catch (e) {
    console.log(`FAIL hive/page/openapi-is-valid: ${e.message.split('\n').slice(0, 3).join(' | ')}`);
}
