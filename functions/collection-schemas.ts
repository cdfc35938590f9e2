import * as v from 'valibot';
import { rowSecurityModes } from '../shared/collections/collection.ts';
import { type BoundName, textFormatNames } from '../shared/collections/schema/field-bounds.ts';
import { fieldTypeNames, searchLanguages } from '../shared/collections/schema/field-types.ts';
import { deleteActions } from '../shared/collections/schema/references.ts';

/** The schema of a field is recursive, so it is referenced; see openapi/collections.ts. */
export const fieldReference = { $ref: '#/components/schemas/Field' };

const boundAnswers = {
  enum: v.optional(v.array(v.union([v.string(), v.number()]))),
  minLength: v.optional(v.number()),
  maxLength: v.optional(v.number()),
  pattern: v.optional(v.string()),
  format: v.optional(v.picklist(textFormatNames)),
  min: v.optional(v.number()),
  max: v.optional(v.number()),
  integer: v.optional(v.boolean()),
  minItems: v.optional(v.number()),
  maxItems: v.optional(v.number()),
  uniqueItems: v.optional(v.boolean()),
} satisfies Record<BoundName, v.GenericSchema>;

export const FieldAnswer = v.object({
  key: v.string(),
  type: v.picklist(fieldTypeNames),
  required: v.boolean(),
  unique: v.boolean(),
  uniquePer: v.optional(v.picklist(['owner'])),
  searchable: v.optional(v.boolean()),
  // `unknown`, because Go and TypeScript generators fail to compile a union of text and boolean.
  write: v.optional(
    v.pipe(v.unknown(), v.metadata({ description: 'Who sets the field: "server", "create", true or a rule.' })),
  ),
  read: v.optional(
    v.pipe(v.unknown(), v.metadata({ description: 'Who reads the field: "server", "owner", true or a rule.' })),
  ),
  default: v.optional(v.union([v.string(), v.number(), v.boolean()])),
  ...boundAnswers,
  ref: v.optional(v.string()),
  exists: v.optional(v.boolean()),
  onDelete: v.optional(v.picklist(deleteActions)),
  items: v.optional(v.pipe(v.unknown(), v.metadata({ $ref: '#/components/schemas/Items' }))),
  fields: v.optional(v.pipe(v.unknown(), v.metadata({ type: 'array', items: fieldReference }))),
});

export const Language = v.pipe(
  v.picklist(searchLanguages, `must be one of ${searchLanguages.join(', ')}`),
  v.metadata({
    description:
      'Searches also find other forms of a word in this language. With none, the default, they find only the word itself.',
  }),
);

export const TrashAudience = v.pipe(
  v.picklist(['everyone', 'owner'], 'must be everyone or owner'),
  v.metadata({
    description:
      'Which trashed documents a publishable key can read with include_deleted=true. everyone: all those that it may read. owner: only those of its user.',
  }),
);

export const Requirement = v.pipe(
  v.picklist(['none', 'mfa'], 'must be none or mfa'),
  v.metadata({
    description: 'mfa: a publishable key needs the token of a user who signed in with a second factor or a passkey.',
  }),
);

export const RowSecurityMode = v.pipe(
  v.picklist(rowSecurityModes, `must be one of ${rowSecurityModes.join(', ')}`),
  v.metadata({
    description:
      'public-read: anyone with a key reads. private: the owner reads. signed-in: every signed-in user reads. In these three the owner writes. rules: the rules decide.',
  }),
);

export const RowSecurityAnswer = v.object({
  enabled: v.boolean(),
  mode: RowSecurityMode,
  ownerField: v.nullable(v.string()),
  rules: v.optional(
    v.pipe(
      v.unknown(),
      v.metadata({
        type: 'object',
        description: 'The rules as they were sent; in mode rules, and only for developers.',
      }),
    ),
  ),
  trash: TrashAudience,
  requires: Requirement,
});

/** Fields whose values are unique together. */
export const UniqueListAnswer = v.object({
  fields: v.array(v.string()),
  ignoreCase: v.optional(v.boolean()),
  keepTrashed: v.optional(v.boolean()),
});
