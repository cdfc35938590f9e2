import * as v from 'valibot';
import { updateText } from '../../shared/documents/update-text.ts';
import { FieldAnswer, RowSecurityAnswer } from '../collection-schemas.ts';
import { JsonObject, success } from '../schemas.ts';

const flag = v.optional(
  v.pipe(
    v.picklist(['true', 'false'], 'must be true or false'),
    v.transform((value) => value === 'true'),
  ),
  'false',
);

/** With any other fields. */
export const Document = v.looseObject({
  _id: v.pipe(
    v.unknown(),
    v.metadata({ description: '24 hexadecimal characters, unless another program gave the id.' }),
  ),
});

/** Parsed by `parseListQuery`; the metadata is for the API description. */
const parameter = (metadata: Readonly<Record<string, unknown>>) => v.optional(v.pipe(v.string(), v.metadata(metadata)));

const yesOrNo = (description: string) => parameter({ enum: ['true', 'false'], description });

const populate = parameter({
  description: 'Up to 5 Ref fields, separated by commas, whose documents are returned in place of their ids.',
});
const expand = parameter({ description: 'The same as populate.' });

export const GetQuery = v.object({ include_deleted: flag, populate, expand });
export const IncludeDeletedQuery = v.object({ include_deleted: flag });

const where = parameter({
  description:
    'A condition as percent-encoded JSON, up to 8 KiB, which the document must fulfil: {"stock":{"$gte":1}}. Otherwise the request returns 412.',
});

export const UpsertQuery = v.object({
  onConflict: parameter({
    description:
      'A unique field, or the fields of an entry of "unique", separated by commas. A document with the same value is updated, and the response is 200.',
  }),
});

export const WriteQuery = v.object({ where });
export const DeleteQuery = v.object({ permanent: flag, where });

/** The fields of an update and operators beside them, which the domain reads. */
export const UpdateBody = v.pipe(
  JsonObject,
  v.metadata({
    minProperties: 1,
    description: updateText,
  }),
);

/** Shared by the parameters of lists and the body of queries. */
const said = {
  page: { type: 'integer', minimum: 1, description: 'Number of the page, starting at 1.' },
  limit: { type: 'integer', minimum: 1, description: 'Documents per page; more than 1000 count as 1000.' },
  skip: { type: 'integer', minimum: 0, description: 'Documents to leave out; page wins.' },
  cursor: { description: 'Empty for the first page, then nextCursor of the previous response.' },
  includeDeleted: 'Whether trashed documents are listed too.',
  meta: 'false leaves the system fields out, except _id; rev adds the revision, _rev.',
} as const;

/** Every other parameter is a filter. */
export const ListQuery = v.looseObject({
  page: parameter(said.page),
  limit: parameter(said.limit),
  skip: parameter(said.skip),
  sort: parameter({ description: 'Up to 4 fields: -a,b or a:desc,b:asc. Otherwise the newest come first.' }),
  cursor: parameter(said.cursor),
  include_deleted: yesOrNo(said.includeDeleted),
  fields: parameter({ description: 'The fields to show, separated by commas; _id always comes.' }),
  populate,
  expand,
  count: yesOrNo('true returns only the number of matching documents, which is always exact.'),
  meta: parameter({ enum: ['true', 'false', 'rev'], description: said.meta }),
  search: parameter({
    description:
      'Words and "phrases" that searchable fields must contain, and -words that they must not. The best matches come first, unless sort is sent.',
  }),
  where: parameter({
    description:
      'A condition as percent-encoded JSON, up to 8 KiB: {"$or":[{"views":{"$gte":5}},{"tags":"first"}]}. Longer ones are sent to the query of the collection.',
  }),
});

export const totals = {
  total: v.pipe(
    v.number(),
    v.metadata({ description: 'Number of matching documents. If totalCapped is true, there are more.' }),
  ),
  totalCapped: v.optional(
    v.pipe(
      v.boolean(),
      v.metadata({ description: 'True if more than total match. A list with count=true counts them all.' }),
    ),
  ),
};

const listHints = v.optional(
  v.pipe(
    v.array(v.string()),
    v.metadata({
      description: 'Fields in filters and sort that the schema does not have. Left out if there are none.',
    }),
  ),
);

export const ListAnswer = success(
  v.union([
    v.object({ count: v.number(), hints: listHints }),
    v.object({
      items: v.array(Document),
      ...totals,
      hints: listHints,
      page: v.optional(v.number()),
      limit: v.number(),
      cursor: v.optional(v.string()),
      nextCursor: v.optional(v.nullable(v.string())),
      truncated: v.optional(v.boolean()),
    }),
  ]),
);

const wholeNumber = (most: number, message: string) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, message),
    v.transform(Number),
    v.check((value) => value <= most, message),
  );

const maxChanges = 1000;
const maxWait = 20;

export const ChangesQuery = v.strictObject({
  since: parameter({
    description:
      'next of an earlier response; 0 for the start of the feed. Without it the response is the current position.',
  }),
  limit: v.optional(
    v.pipe(
      wholeNumber(Number.MAX_SAFE_INTEGER, 'must be a positive whole number'),
      v.minValue(1, 'must be a positive whole number'),
      v.transform((limit) => Math.min(limit, maxChanges)),
      v.metadata({ type: 'integer', minimum: 1, description: 'Changes per page; more than 1000 count as 1000.' }),
    ),
    '100',
  ),
  wait: v.optional(
    v.pipe(
      wholeNumber(maxWait, `must be a whole number of seconds, 0 to ${maxWait}`),
      v.metadata({
        type: 'integer',
        minimum: 0,
        maximum: maxWait,
        description: 'Seconds to wait if there is nothing yet.',
      }),
    ),
    '0',
  ),
  where: parameter({
    description:
      'A condition as percent-encoded JSON, up to 8 KiB. A changed document that does not meet it appears as deleted.',
  }),
  partition: parameter({
    description: 'Only the changes with this value of the field that the collection is partitioned by.',
  }),
});

export const ChangesAnswer = success(
  v.object({
    changes: v.array(
      v.object({
        _id: Document.entries._id,
        rev: v.number(),
        deleted: v.optional(v.boolean()),
        document: v.optional(Document),
      }),
    ),
    next: v.pipe(v.string(), v.metadata({ description: 'The position after these changes, for since.' })),
    more: v.pipe(v.boolean(), v.metadata({ description: 'Whether more changes follow.' })),
  }),
);

export const UpdateAnswer = success(Document);
export const DeleteAnswer = success(v.object({ id: v.string() }));
export const BulkAnswer = success(v.object({ insertedCount: v.number(), ids: v.array(Document.entries._id) }));
export const BulkUpsertAnswer = success(
  v.object({ ids: v.array(Document.entries._id), inserted: v.number(), updated: v.number() }),
);

const which = {
  where: v.pipe(
    JsonObject,
    v.metadata({ description: 'The condition that the documents meet, as in a list. It may not be empty.' }),
  ),
  cursor: v.optional(
    v.pipe(
      v.string('must be a String'),
      v.metadata({ description: 'cursor of the response before, to continue with the next ones.' }),
    ),
  ),
};

export const ManyUpdateBody = v.strictObject({
  ...which,
  changes: v.pipe(JsonObject, v.metadata({ description: 'The body that an update of one document takes.' })),
});

export const ManyDeleteBody = v.strictObject({
  ...which,
  permanent: v.optional(
    v.pipe(
      v.boolean('must be a Boolean'),
      v.metadata({ description: 'true deletes permanently; otherwise documents go to the trash.' }),
    ),
    false,
  ),
});

export const ManyAnswer = success(
  v.object({
    matched: v.pipe(v.number(), v.metadata({ description: 'Documents that were examined.' })),
    changed: v.pipe(v.number(), v.metadata({ description: 'Documents that were written.' })),
    more: v.pipe(v.boolean(), v.metadata({ description: 'Whether documents are left.' })),
    cursor: v.pipe(
      v.nullable(v.string()),
      v.metadata({ description: 'Send it with the same condition to continue; null if nothing is left.' }),
    ),
    errors: v.array(v.object({ id: v.string(), code: v.string(), message: v.string() })),
  }),
);

const batchWrite = {
  type: 'object',
  required: ['op', 'collection'],
  properties: {
    op: { type: 'string', enum: ['insert', 'update', 'delete', 'check'] },
    collection: { type: 'string' },
    id: {
      description:
        'The _id of a document, or {"$id": n} for that of write n, an earlier insert. An insert may choose its own id.',
    },
    document: { type: 'object', description: 'For insert: the document. {"$id": n} may be at any depth.' },
    changes: { type: 'object', description: 'For update: the body that an update of one document takes.' },
    where: { type: 'object', description: 'For update, delete and check: the condition that the document meets.' },
    ifMatch: { type: 'integer', minimum: 0, description: 'For update and delete: the revision of the document.' },
    idempotencyKey: { type: 'string', description: 'With each: carries out this write once in 24 hours.' },
  },
  additionalProperties: false,
};

/** The domain checks the writes: a malformed one is a refused write. */
export const BatchBody = v.strictObject({
  writes: v.pipe(
    v.array(v.unknown(), 'must be a list of writes'),
    v.metadata({ type: 'array', minItems: 1, maxItems: 50, items: batchWrite }),
  ),
  each: v.optional(
    v.pipe(
      v.boolean('must be a Boolean'),
      v.metadata({ description: 'true carries out each write on its own, in order; otherwise all or none.' }),
    ),
    false,
  ),
});

export const BatchAnswer = success(
  v.object({
    results: v.array(
      v.object({
        status: v.pipe(v.number(), v.metadata({ description: 'The status that a single request would have.' })),
        code: v.optional(v.string()),
        message: v.optional(v.string()),
        document: v.optional(Document),
      }),
    ),
    atomic: v.optional(
      v.pipe(v.boolean(), v.metadata({ description: 'Whether the writes ran in a transaction. Left out with each.' })),
    ),
    truncated: v.optional(
      v.pipe(
        v.boolean(),
        v.metadata({ description: 'True if the documents were left out, because they are larger than 5 MiB.' }),
      ),
    ),
  }),
);

export const AggregateAnswer = success(
  v.array(v.pipe(v.unknown(), v.metadata({ description: 'The results of the last stage.' }))),
);

export const SchemaAnswer = v.object({
  success: v.literal(true),
  data: v.object({
    collection: v.object({
      name: v.string(),
      model: v.array(FieldAnswer),
      closed: v.optional(v.boolean()),
      rls: RowSecurityAnswer,
    }),
  }),
});

/** Parsed by the domain. */
export const AggregateBody = v.pipe(
  JsonObject,
  v.metadata({
    properties: {
      pipeline: {
        type: 'array',
        minItems: 1,
        maxItems: 50,
        items: { type: 'object', minProperties: 1, maxProperties: 1 },
        description: 'The stages of a MongoDB aggregation that only reads; at most 50, including nested ones.',
      },
    },
    required: ['pipeline'],
  }),
);

const texts = (description: string) => ({
  anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }],
  description,
});

/** Filters belong in the body, so query parameters are rejected. */
export const NoQuery = v.strictObject({}, 'belongs in the body');

/** Parsed by `queryDocuments`. */
export const QueryBody = v.pipe(
  JsonObject,
  v.metadata({
    properties: {
      where: { type: 'object', description: 'A condition: {"$or":[{"views":{"$gte":5}},{"tags":"first"}]}.' },
      search: { type: 'string', description: 'Words that must occur in searchable fields.' },
      sort: texts('Up to 4 fields: -a or a:desc. Otherwise the newest come first.'),
      fields: texts('The fields to show; _id always comes.'),
      limit: said.limit,
      page: said.page,
      skip: said.skip,
      cursor: { type: 'string', ...said.cursor },
      populate: texts('Up to 5 Ref fields whose documents are returned in place of their ids.'),
      count: { type: 'boolean', description: 'true returns only the number of matching documents.' },
      include_deleted: { type: 'boolean', description: said.includeDeleted },
      meta: { anyOf: [{ type: 'boolean' }, { type: 'string', const: 'rev' }], description: said.meta },
    },
    additionalProperties: false,
  }),
);
