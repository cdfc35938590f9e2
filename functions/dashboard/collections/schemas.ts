import * as v from 'valibot';
import { effectEvents } from '../../../shared/collections/effects/effect.ts';
import { triedOperations } from '../../../shared/collections/rules/rule.ts';
import { isPlainObject } from '../../../shared/core/json.ts';
import { hints } from '../../account-fields.ts';
import {
  FieldAnswer,
  fieldReference,
  Language,
  Requirement,
  RowSecurityAnswer,
  RowSecurityMode,
  TrashAudience,
  UniqueListAnswer,
} from '../../collection-schemas.ts';
import { strictBody, success } from '../../schemas.ts';
import { PageQuery, pageOf } from '../schemas.ts';

const text = v.string('must be a String');
const flag = v.boolean('must be a Boolean');
const name = v.pipe(text, v.metadata({ description: 'Name of the collection, as in its addresses.' }));
const isSecured = v.pipe(flag, v.metadata({ description: 'Whether row security decides who reads and writes.' }));

/** Parsed by `parseRules`. */
const rules = v.optional(
  v.nullable(
    v.pipe(
      v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object'),
      v.metadata({
        type: 'object',
        description:
          'In mode rules: read, create, update, delete, readTrash, recover and purge, each true, false or a condition.',
      }),
    ),
  ),
);

const rowSecurity = {
  mode: v.optional(v.nullable(RowSecurityMode)),
  ownerField: v.optional(
    v.nullable(v.pipe(text, v.metadata({ description: 'The field with the id of the user who owns a document.' }))),
  ),
  trash: v.optional(v.nullable(TrashAudience)),
  requires: v.optional(v.nullable(Requirement)),
  rules,
};

const anObject = v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object');
const NewRowSecurity = v.pipe(anObject, v.strictObject({ enabled: isSecured, ...rowSecurity }));
const securityText = 'Row security: who reads and writes a document with the publishable key.';
const RowSecurityChanges = v.pipe(
  anObject,
  v.strictObject({ enabled: v.optional(v.nullable(isSecured)), ...rowSecurity }),
);

/** Parsed by `parseSchema`. */
const schema = v.pipe(
  v.unknown(),
  v.metadata({
    anyOf: [{ type: 'array', minItems: 1, items: fieldReference }, { type: 'null' }],
    description: 'The fields of a document, or null for a collection that takes any object.',
  }),
);

const changes = v.optional(
  v.pipe(flag, v.metadata({ description: 'Whether the collection has a changes feed. Default: false.' })),
);

const closed = v.optional(
  v.pipe(
    flag,
    v.metadata({ description: 'Whether fields that the schema does not have are rejected. Default: false.' }),
  ),
);

const unique = v.optional(
  v.pipe(
    v.unknown(),
    v.metadata({
      type: ['array', 'null'],
      maxItems: 10,
      items: { description: 'A list of field names, or an object.' },
      description:
        'Fields whose values are unique together: each entry is a list of 1 to 4 fields, or an object with fields, ignoreCase and keepTrashed.',
    }),
  ),
);

/** Parsed by `parseEffects`. */
const effects = v.optional(
  v.pipe(
    v.unknown(),
    v.metadata({
      type: ['array', 'null'],
      maxItems: 5,
      items: { type: 'object' },
      description:
        'What the service computes, writes and sends when a document is written, or at the time that a field has; an edit replaces the whole list.',
    }),
  ),
);

/** Parsed by `parsePartition`. */
const partition = v.optional(
  v.pipe(
    v.nullable(text),
    v.metadata({
      description:
        'A top-level String or Ref field. It becomes required and immutable, and an app gets only the changes with one of its values.',
    }),
  ),
);

export const NewCollectionBody = strictBody({
  name,
  schema,
  rls: v.optional(v.pipe(v.nullable(NewRowSecurity), v.metadata({ description: securityText }))),
  searchLanguage: v.optional(Language),
  changes,
  closed,
  unique,
  effects,
  partition,
});
export const CollectionChangesBody = strictBody({
  name: v.optional(name),
  schema: v.optional(schema),
  rls: v.optional(v.pipe(v.nullable(RowSecurityChanges), v.metadata({ description: securityText }))),
  searchLanguage: v.optional(Language),
  changes,
  closed,
  unique,
  effects,
  partition,
  force: v.optional(
    v.pipe(flag, v.metadata({ description: 'true saves a schema that stored documents do not match.' })),
  ),
});

const IndexKinds = v.record(v.string(), v.picklist([1, -1, '2dsphere', 'text'], 'must be 1, -1, 2dsphere or text'));

export const NewIndexBody = strictBody({
  keys: v.pipe(
    v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object such as {"a":1,"b":-1}'),
    IndexKinds,
  ),
  name: v.optional(text),
});

const anyDocument = v.pipe(
  v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object'),
  v.metadata({ type: 'object' }),
);

const Collection = v.object({
  name: v.string(),
  schema: v.nullable(v.array(FieldAnswer)),
  rls: RowSecurityAnswer,
  searchLanguage: v.optional(Language),
  closed: v.optional(v.boolean()),
  unique: v.optional(v.array(UniqueListAnswer)),
  effects: v.optional(v.array(anyDocument)),
  partition: v.optional(v.string()),
  changes: v.boolean(),
  /** `null` while the customer's database is unavailable. */
  documents: v.nullable(v.number()),
  createdAt: v.date(),
  updatedAt: v.date(),
});

export const CollectionsQuery = v.strictObject({
  ...PageQuery.entries,
  stats: v.optional(
    v.pipe(
      v.literal('true', 'must be true'),
      v.metadata({ description: 'Adds the number of indexes of your own, and the bytes of the documents.' }),
    ),
  ),
});

export const TrialBody = strictBody({
  operation: v.picklist([...triedOperations, 'read'], `must be one of ${triedOperations.join(', ')}`),
  userId: v.optional(text),
  documentId: v.optional(text),
  document: v.optional(anyDocument),
  changes: v.optional(anyDocument),
});

export const TrialAnswer = success(
  v.object({
    allowed: v.boolean(),
    status: v.number(),
    code: v.optional(v.string()),
    parts: v.array(v.object({ path: v.string(), outcome: v.picklist(['true', 'false', 'unknown']) })),
  }),
);

export const EffectTrialBody = strictBody({
  operation: v.picklist([...effectEvents, 'at'], `must be one of ${effectEvents.join(', ')}, at`),
  documentId: v.optional(text),
  document: v.optional(anyDocument),
  changes: v.optional(anyDocument),
  userId: v.optional(text),
  effects,
});

const Refusal = v.object({ status: v.number(), code: v.string(), message: v.string() });
const TriedFields = v.array(
  v.object({
    field: v.string(),
    before: v.optional(v.pipe(v.unknown(), v.metadata({ description: 'The value before the write.' }))),
    after: v.optional(v.pipe(v.unknown(), v.metadata({ description: 'The value after the write.' }))),
    isLong: v.optional(v.boolean()),
  }),
);

export const EffectTrialAnswer = success(
  v.object({
    refused: v.optional(Refusal),
    effects: v.array(
      v.object({
        at: v.string(),
        state: v.picklist(['runs', 'refused', 'skipped', 'otherWrite', 'notReached', 'noDate', 'ran']),
        runsAt: v.optional(v.pipe(v.date(), v.metadata({ description: 'When an effect at a time runs.' }))),
        set: TriedFields,
        writes: v.array(
          v.object({
            op: v.picklist(['insert', 'update', 'delete', 'check']),
            collection: v.string(),
            id: v.optional(v.string()),
            fields: TriedFields,
            refused: v.optional(Refusal),
          }),
        ),
        mails: v.array(
          v.object({
            template: v.string(),
            hasTemplate: v.boolean(),
            to: v.optional(v.string()),
            reason: v.optional(v.string()),
          }),
        ),
        refused: v.optional(Refusal),
      }),
    ),
  }),
);

const Index = v.object({ name: v.string(), keys: IndexKinds });

export const CollectionAnswer = success(Collection);
export const CollectionSavedAnswer = v.object({ ...CollectionAnswer.entries, hints });
export const CollectionPage = pageOf(
  v.object({
    ...Collection.entries,
    indexes: v.optional(v.number()),
    /** `null` if the database does not tell. */
    bytes: v.optional(v.nullable(v.number())),
  }),
);
export const IndexAnswer = success(Index);
export const IndexPage = pageOf(Index);
export const DeletedAnswer = success(v.object({ name: v.string() }));
