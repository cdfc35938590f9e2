import { createRequire } from 'node:module';

type Check = ((value: unknown) => boolean) & { readonly errors?: unknown };

interface Ajv {
  addSchema(schema: object, key: string): void;
  compile(schema: object): Check;
}

/** The JSON schema validator that the validator of OpenAPI documents stands on. */
const fromValidator = createRequire(import.meta.resolve('@seriousme/openapi-schema-validator'));
const { Ajv2020 } = fromValidator('ajv/dist/2020.js') as { readonly Ajv2020: new (options: object) => Ajv };
const addFormats = fromValidator('ajv-formats') as (ajv: Ajv) => void;

/** Says what is wrong with values, by the schemas that stand in an OpenAPI document. */
export class JsonValidator {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #checks = new Map<string, Check>();

  constructor(document: object) {
    addFormats(this.#ajv);
    this.#ajv.addSchema(document, 'api');
  }

  /** What is wrong with a value by the schema at a place, `['paths', '/api/health', …]`; `undefined` where it fits. */
  problems(place: readonly string[], value: unknown): unknown {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const check = this.#checks.get(pointer) ?? this.#ajv.compile({ $ref: `api#/${pointer}` });
    this.#checks.set(pointer, check);
    return check(value) ? undefined : check.errors;
  }
}
