import type { CollectionInput } from '../../shared/collections/create-collection.ts';

/** The demo project's collections, by name; the first one is what the others refer to. */
export const demoCollections: Readonly<Record<string, CollectionInput>> = {
  users: {
    schema: [
      { key: 'email', type: 'String', required: true, unique: true },
      { key: 'password', type: 'String', required: true },
      { key: 'username', type: 'String', unique: true },
      { key: 'name', type: 'String' },
    ],
  },
  posts: {
    schema: [
      { key: 'title', type: 'String', required: true },
      { key: 'views', type: 'Number', default: 0 },
      { key: 'published', type: 'Boolean', default: false },
      { key: 'publishedAt', type: 'Date' },
      {
        key: 'meta',
        type: 'Object',
        fields: [
          { key: 'source', type: 'String' },
          { key: 'score', type: 'Number' },
        ],
      },
      { key: 'tags', type: 'Array', items: { type: 'String' } },
      { key: 'author', type: 'Ref', ref: 'users' },
    ],
  },
  notes: { schema: null },
  todos: {
    schema: [
      { key: 'task', type: 'String', required: true },
      { key: 'done', type: 'Boolean', default: false },
    ],
    rls: { enabled: true, mode: 'private', ownerField: 'userId' },
    changes: true,
  },
};
