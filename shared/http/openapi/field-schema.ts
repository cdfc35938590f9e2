import { fieldTypeNames, listTypes } from '../../collections/schema/field-types.ts';
import type { JsonSchema } from './json-schema.ts';

const type = { enum: fieldTypeNames };
/** What is said of a value besides its type. */
const inside = {
  ref: { type: ['string', 'null'], description: 'The collection that a Ref points into.' },
  items: { anyOf: [{ $ref: '#/components/schemas/Items' }, { type: 'null' }] },
  fields: { type: ['array', 'null'], items: { $ref: '#/components/schemas/Field' } },
};

/** The schema language of collections (specification, "Collection schema"), as parts of the API description. */
export const fieldSchemas: Readonly<Record<'Field' | 'Items', JsonSchema>> = {
  Field: {
    type: 'object',
    description: 'A field of the documents of a collection.',
    properties: {
      key: { type: 'string' },
      type,
      required: { type: ['boolean', 'null'] },
      unique: {
        type: ['boolean', 'null'],
        description: `For ${listTypes(({ unique }) => unique, 'and')} at the top level.`,
      },
      uniquePer: {
        type: 'string',
        enum: ['owner'],
        description: 'With owner a unique field is unique among the documents of one owner; needs row security.',
      },
      searchable: {
        type: ['boolean', 'null'],
        description: 'Whether searches go through it: for String and Array of String at the top level, up to 10.',
      },
      default: { type: ['string', 'number', 'boolean', 'null'], description: 'Fills the field where it is absent.' },
      ...inside,
    },
    required: ['key', 'type'],
    additionalProperties: false,
  },
  Items: {
    type: 'object',
    description: 'What every element of an Array is.',
    properties: {
      type,
      ...inside,
    },
    required: ['type'],
    additionalProperties: false,
  },
};
