import type { Field } from '../../../shared/collections/collection.ts';
import type { AccessKind } from '../access/access-kinds.ts';

interface Template {
  readonly schema: readonly Field[];
  readonly access: AccessKind;
}

const field = (key: string, type: Field['type'], more: Partial<Field> = {}): Field => ({
  ...{ key, type, required: false, unique: false },
  ...more,
});

const texts = (key: string): Field => field(key, 'Array', { items: { type: 'String' } });

/** Collections to begin with. */
export const templates = {
  posts: {
    access: 'public',
    schema: [
      field('title', 'String', { required: true, searchable: true, maxLength: 200 }),
      field('slug', 'String', { unique: true, pattern: '^[a-z0-9-]+$' }),
      field('text', 'String'),
      texts('tags'),
      field('author', 'Ref', { ref: 'users' }),
      field('published', 'Boolean', { default: false }),
      field('publishedAt', 'Date'),
    ],
  },
  tasks: {
    access: 'owner',
    schema: [
      field('title', 'String', { required: true, maxLength: 200 }),
      field('done', 'Boolean', { default: false }),
      field('priority', 'String', { enum: ['low', 'normal', 'high'], default: 'normal' }),
      field('dueAt', 'Date'),
    ],
  },
  products: {
    access: 'public',
    schema: [
      field('name', 'String', { required: true, searchable: true, maxLength: 200 }),
      field('sku', 'String', { unique: true }),
      field('price', 'Number', { required: true, min: 0 }),
      field('stock', 'Number', { min: 0, integer: true, default: 0 }),
      texts('images'),
      field('size', 'Object', {
        fields: [field('width', 'Number', { min: 0 }), field('height', 'Number', { min: 0 })],
      }),
    ],
  },
} as const satisfies Readonly<Record<string, Template>>;

type TemplateName = keyof typeof templates;
export const isTemplate = (name: string): name is TemplateName => Object.hasOwn(templates, name);
