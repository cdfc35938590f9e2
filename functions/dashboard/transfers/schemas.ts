import * as v from 'valibot';
import { isPlainObject } from '../../../shared/core/json.ts';
import { maxImportBytes } from '../../../shared/transfers/import.ts';
import { conflictRules, exportFormats, importFormats, transferStates } from '../../../shared/transfers/transfer.ts';
import { strictBody, success } from '../../schemas.ts';
import { PageQuery, pageOf } from '../schemas.ts';

const flag = v.boolean('must be a Boolean');

const importFormat = v.picklist(importFormats, 'must be ndjson or csv');
const sizeMessage = `must be a whole number of bytes from 1 to ${maxImportBytes}`;

export const NewExportBody = strictBody({
  format: v.picklist(exportFormats, 'must be ndjson, json or csv'),
  includeDeleted: v.optional(flag, false),
  where: v.optional(
    v.pipe(
      v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object'),
      v.metadata({ type: 'object', description: 'Only documents that meet this condition, as in a list.' }),
    ),
  ),
  sort: v.optional(
    v.pipe(v.string('must be a String'), v.metadata({ description: 'As in a list. Otherwise by `_id`.' })),
  ),
  fields: v.optional(
    v.pipe(
      v.array(v.string('must be a list of field names'), 'must be a list of field names'),
      v.minLength(1, 'must name at least one field'),
      v.metadata({ description: 'The fields to write, for CSV in this order. Otherwise all.' }),
    ),
  ),
});

const size = v.pipe(
  v.number(sizeMessage),
  v.integer(sizeMessage),
  v.minValue(1, sizeMessage),
  v.maxValue(maxImportBytes, sizeMessage),
);

const fileNameMessage = 'must be 1 to 255 characters';
const fileName = v.pipe(v.string(fileNameMessage), v.minLength(1, fileNameMessage), v.maxLength(255, fileNameMessage));

/** `content`, or `upload` with the size of a file to be uploaded. */
export const NewImportBody = v.pipe(
  strictBody({
    format: importFormat,
    fileName: v.optional(fileName),
    content: v.optional(v.string('must be a String')),
    upload: v.optional(
      v.pipe(
        v.boolean('must be true'),
        v.check((upload) => upload, 'must be true'),
      ),
    ),
    size: v.optional(size),
    keepIds: v.optional(flag, false),
    onConflict: v.optional(v.picklist(conflictRules, 'must be skip or replace')),
  }),
  v.check(
    (body) =>
      body.content === undefined
        ? body.upload !== undefined && body.size !== undefined
        : body.upload === undefined && body.size === undefined,
    'Send either content, or upload: true and size.',
  ),
  v.check(
    ({ keepIds, onConflict }) => keepIds || onConflict === undefined,
    'onConflict is about the _ids of the lines: send keepIds: true with it.',
  ),
);

/** The collection may be deleted. */
export const TransfersQuery = v.strictObject({
  ...PageQuery.entries,
  collection: v.optional(v.pipe(v.string(), v.minLength(1, 'must be the name of a collection'))),
});

const state = v.picklist(transferStates);

const common = {
  _id: v.string(),
  collection: v.string(),
  state,
  failure: v.nullable(v.string()),
  createdAt: v.date(),
  updatedAt: v.date(),
  expiresAt: v.date(),
};

const exportFields = {
  ...common,
  format: v.picklist(exportFormats),
  includeDeleted: v.boolean(),
  where: v.nullable(
    v.pipe(
      v.record(v.string(), v.pipe(v.unknown(), v.metadata({ description: 'Any value.' }))),
      v.metadata({ description: 'Its condition.' }),
    ),
  ),
  sort: v.nullable(v.string()),
  fields: v.nullable(v.array(v.string())),
  count: v.number(),
  bytes: v.number(),
};

const importFields = {
  ...common,
  format: v.picklist(importFormats),
  fileName: v.nullable(v.string()),
  keepIds: v.boolean(),
  onConflict: v.nullable(v.picklist(conflictRules)),
  inserted: v.number(),
  rejected: v.number(),
  skipped: v.number(),
  size: v.nullable(v.number()),
  bytes: v.number(),
};

const Import = v.object({
  ...importFields,
  errors: v.array(v.object({ line: v.number(), field: v.string(), message: v.string() })),
});

const Transfer = v.variant('kind', [
  v.object({ kind: v.literal('export'), ...exportFields }),
  v.object({ kind: v.literal('import'), ...importFields }),
]);

export const ExportAnswer = success(v.object({ ...exportFields, url: v.nullable(v.string()) }));
export const ImportAnswer = success(Import);
export const StartedImportAnswer = success(
  v.object({ ...Import.entries, signedUrl: v.nullable(v.string()), contentType: v.string() }),
);

export const TransferPage = pageOf(Transfer);
export const TransferAnswer = success(Transfer);
