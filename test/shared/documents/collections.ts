import { type Collection, noRowSecurity, type RowSecurity } from '../../../shared/collections/collection.ts';
import { parseSchema } from '../../../shared/collections/schema/schema.ts';

/** Returns a collection with this schema, as a developer writes it. */
export const collectionOf = (schema: unknown, rls: Partial<RowSecurity> = {}): Collection => ({
  name: 'things',
  schema: parseSchema(schema),
  rls: { ...noRowSecurity, ...rls },
});

/** Fields of every type, nested in objects and arrays. */
export const everything = collectionOf([
  { key: 'title', type: 'String', required: true },
  { key: 'views', type: 'Number', default: 0 },
  { key: 'live', type: 'Boolean' },
  { key: 'at', type: 'Date' },
  { key: 'author', type: 'Ref', ref: 'people' },
  { key: 'tags', type: 'Array', items: { type: 'String' } },
  { key: 'anything', type: 'Array' },
  { key: 'grid', type: 'Array', items: { type: 'Array', items: { type: 'Number' } } },
  {
    key: 'comments',
    type: 'Array',
    items: {
      type: 'Object',
      fields: [
        { key: 'text', type: 'String', required: true },
        { key: 'by', type: 'Ref', ref: 'people' },
        { key: 'likes', type: 'Number', default: 0 },
      ],
    },
  },
  {
    key: 'meta',
    type: 'Object',
    fields: [
      { key: 'score', type: 'Number' },
      {
        key: 'author',
        type: 'Object',
        fields: [
          { key: 'name', type: 'String', required: true },
          { key: 'born', type: 'Date' },
        ],
      },
    ],
  },
]);

export const schemaFree = collectionOf(null);
export const owned = collectionOf([{ key: 'task', type: 'String', required: true }], { enabled: true });
export const ownedPrivately = collectionOf(null, { enabled: true, mode: 'private' });
