import * as v from 'valibot';
import { fieldTypes } from '../collections/collection.ts';

/** A field of a collection schema as answered (contract 6, "Records"). */
export const FieldAnswer = v.object({
  key: v.string(),
  type: v.picklist(fieldTypes),
  required: v.boolean(),
  unique: v.boolean(),
  default: v.optional(v.union([v.string(), v.number(), v.boolean()])),
  ref: v.optional(v.string()),
  items: v.optional(v.unknown()),
  fields: v.optional(v.unknown()),
});

/** The row security of a collection as answered. */
export const RowSecurityAnswer = v.object({
  enabled: v.boolean(),
  mode: v.picklist(['public-read', 'private']),
  ownerField: v.string(),
});
