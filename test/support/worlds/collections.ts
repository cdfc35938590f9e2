import type { CollectionInput } from './project.ts';

/** A collection with every field type of the specification, nested fields and typed elements. */
export const everyType: CollectionInput = {
  name: 'posts',
  schema: [
    { key: 'title', type: 'String', required: true },
    { key: 'slug', type: 'String', unique: true },
    { key: 'views', type: 'Number', default: 0 },
    { key: 'published', type: 'Boolean', default: false },
    { key: 'status', type: 'String', default: 'draft' },
    { key: 'publishedAt', type: 'Date' },
    {
      key: 'meta',
      type: 'Object',
      fields: [
        { key: 'source', type: 'String', required: true },
        { key: 'score', type: 'Number' },
        { key: 'reviewer', type: 'Ref', ref: 'people' },
      ],
    },
    { key: 'tags', type: 'Array', items: { type: 'String' } },
    { key: 'anything', type: 'Array' },
    { key: 'author', type: 'Ref', ref: 'people' },
    { key: 'readers', type: 'Array', items: { type: 'Ref', ref: 'people' } },
    {
      key: 'comments',
      type: 'Array',
      items: {
        type: 'Object',
        fields: [
          { key: 'text', type: 'String', required: true },
          { key: 'by', type: 'Ref', ref: 'people' },
        ],
      },
    },
  ],
};

export const people: CollectionInput = { name: 'people', schema: [{ key: 'name', type: 'String', required: true }] };

/** No schema: any JSON object. */
export const notes: CollectionInput = { name: 'notes', schema: null };

/** Everybody reads, owners write. */
export const feed: CollectionInput = { name: 'feed', schema: null, rls: { enabled: true } };

/** Only owners read and write. */
export const todos: CollectionInput = {
  name: 'todos',
  schema: [
    { key: 'task', type: 'String', required: true },
    { key: 'done', type: 'Boolean', default: false },
  ],
  rls: { enabled: true, mode: 'private' },
};
