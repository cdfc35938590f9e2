import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { dashboardDocument } from '../../../functions/dashboard-api.ts';
import { publicDocument } from '../../../functions/public-api.ts';

interface WithExamples {
  readonly schema?: object;
  readonly example?: unknown;
  /** Named ones of a media type, or a list of a schema. */
  readonly examples?: object;
}

/** Schemas with their examples: of media types, parameters and headers, and inside schemas. */
const examplesIn = ({ example, examples }: WithExamples): readonly unknown[] => {
  const several = Array.isArray(examples)
    ? (examples as readonly unknown[])
    : Object.values(examples ?? {}).map((named: { readonly value?: unknown }) => named.value);
  return [...(example === undefined ? [] : [example]), ...several];
};

/** Paths in an example at which a linter would mistake an object for a schema with a default. */
const schemasIn = (value: unknown, path: string): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  const isTaken = 'type' in value && 'default' in value;
  const below = Object.entries(value).flatMap(([key, inner]) => schemasIn(inner, `${path}/${key}`));
  return isTaken ? [path, ...below] : below;
};

describe.each([
  ['public', publicDocument],
  ['dashboard', dashboardDocument],
])('in the description of the %s API', (_name, documentOf) => {
  test('every example fits its schema and does not look like a schema', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formats.default(ajv);
    const document = JSON.parse(JSON.stringify(documentOf()));
    ajv.addSchema({ $id: 'document', ...document });
    const wrong: string[] = [];
    let seen = 0;
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null || /\/examples?$/.test(path)) return;
      const node = value as WithExamples;
      const isSchema = !('schema' in node);
      for (const example of examplesIn(node)) {
        seen += 1;
        wrong.push(...schemasIn(example, path));
        const pointer = `document#${path}${isSchema ? '' : '/schema'}`;
        const fits = ajv.validate({ $ref: pointer }, example);
        if (!fits) wrong.push(`${path}: ${ajv.errorsText()} in ${JSON.stringify(example)}`);
      }
      for (const [key, inner] of Object.entries(value)) {
        const step = encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
        walk(inner, `${path}/${step}`);
      }
    };
    walk(document, '');
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(50);
  });
});
