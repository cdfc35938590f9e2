import * as v from 'valibot';
import { FieldAnswer, RowSecurityAnswer } from '../../shared/http/collection-schemas.ts';
import { JsonObject, success } from '../../shared/http/schemas.ts';

const flag = v.optional(
  v.pipe(
    v.picklist(['true', 'false'], 'must be true or false'),
    v.transform((value) => value === 'true'),
  ),
  'false',
);

/** A document on the wire; fields of its own besides these. */
export const Document = v.looseObject({ _id: v.unknown() });

const text = v.optional(v.string());

export const GetQuery = v.object({ include_deleted: flag, populate: text, expand: text });
export const IncludeDeletedQuery = v.object({ include_deleted: flag });
export const DeleteQuery = v.object({ permanent: flag });

/** Reserved parameters of the list; every other parameter is a filter, read by `parseListQuery`. */
export const ListQuery = v.looseObject({
  page: text,
  limit: text,
  skip: text,
  sort: text,
  cursor: text,
  include_deleted: text,
  fields: text,
  populate: text,
  expand: text,
  count: text,
  meta: text,
});

export const ListAnswer = success(
  v.union([
    v.object({ count: v.number() }),
    v.object({
      items: v.array(Document),
      total: v.number(),
      totalCapped: v.optional(v.literal(true)),
      page: v.optional(v.number()),
      limit: v.number(),
      cursor: v.optional(v.string()),
      nextCursor: v.optional(v.nullable(v.string())),
      truncated: v.optional(v.literal(true)),
    }),
  ]),
);

export const UpdateAnswer = success(Document);
export const DeleteAnswer = success(v.object({ id: v.string() }));
export const BulkAnswer = success(v.object({ insertedCount: v.number(), ids: v.array(v.unknown()) }));
export const AggregateAnswer = success(v.array(v.unknown()));

export const SchemaAnswer = v.object({
  success: v.literal(true),
  data: v.object({
    collection: v.object({
      name: v.string(),
      model: v.array(FieldAnswer),
      rls: RowSecurityAnswer,
    }),
  }),
});

export const AggregateBody = JsonObject;
