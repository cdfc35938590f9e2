import { TransactGetItemsCommand, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { type Found, transact } from '../table/transact.ts';
import { throughConflicts } from '../table/write-conflicts.ts';
import type { StoredObject } from './bucket.ts';
import { putDueEntry } from './due-entries.ts';
import { type FileRef, fileItemKey, number, numberIn, quotaKey, text, uploadKey } from './upload-items.ts';

/**
 * The life of a path: requested → confirmed → deleted, or requested → expired. Each move is one transaction, which
 * takes the path from one item to the next and the quota along; there is no way back, and no path is given out twice.
 */
export type UploadState =
  | { readonly kind: 'requested'; readonly size: number }
  | { readonly kind: 'confirmed'; readonly size: number };

const given = 'attribute_exists(pk)';

const count = (ref: FileRef, changes: Readonly<Record<string, number>>) => {
  const names = Object.keys(changes);
  return {
    Key: quotaKey(ref),
    UpdateExpression: `ADD ${names.map((name) => `${name} :${name}`).join(', ')}`,
    ExpressionAttributeValues: Object.fromEntries(names.map((name) => [`:${name}`, number(changes[name] ?? 0)])),
  };
};

/**
 * → requested: takes `size` bytes of the quota. False where there is less room than that; `limit` in bytes, `null` for
 * none.
 */
export const reserve = async (
  ref: FileRef,
  upload: { readonly size: number; readonly contentType: string },
  limit: number | null,
): Promise<boolean> => {
  const { size, contentType } = upload;
  if (limit !== null && size > limit) return false;
  const counted = count(ref, { held: size });
  const refusal = await transact([
    {
      Update:
        limit === null
          ? counted
          : {
              ...counted,
              ConditionExpression: 'attribute_not_exists(held) OR held <= :room',
              ExpressionAttributeValues: { ...counted.ExpressionAttributeValues, ':room': number(limit - size) },
            },
    },
    {
      Put: {
        Item: {
          ...uploadKey(ref),
          bytes: number(size),
          contentType: text(contentType),
          requestedAt: number(clock.now()),
        },
      },
    },
    putDueEntry(ref, 'requested'),
  ]);
  return refusal === undefined;
};

const stateFrom = (upload: Found['item'], file: Found['item']): UploadState | undefined => {
  if (file) return { kind: 'confirmed', size: numberIn(file, 'bytes') };
  return upload && { kind: 'requested', size: numberIn(upload, 'bytes') };
};

/**
 * requested → confirmed: the object that is at the path now is the file, and its size is charged. Returns the state of
 * the path afterwards: `requested` where its size is not the one that was asked for, `undefined` where it is deleted,
 * expired or unknown.
 */
export const charge = async (
  ref: FileRef,
  { size, etag, contentType }: StoredObject,
): Promise<UploadState | undefined> => {
  const found = await transact([
    {
      Delete: {
        Key: uploadKey(ref),
        ConditionExpression: 'bytes = :bytes',
        ExpressionAttributeValues: { ':bytes': number(size) },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    {
      Put: {
        Item: {
          ...fileItemKey(ref),
          bytes: number(size),
          etag: text(etag),
          contentType: text(contentType),
          confirmedAt: number(clock.now()),
        },
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    { Update: count(ref, { used: size, files: 1 }) },
  ]);
  return found ? stateFrom(found[0]?.item, found[1]?.item) : { kind: 'confirmed', size };
};

/** requested → expired: gives back what was reserved. False where it is no longer requested. */
export const expire = async (ref: FileRef, size: number): Promise<boolean> => {
  const refusal = await transact([
    { Delete: { Key: uploadKey(ref), ConditionExpression: given } },
    { Update: count(ref, { held: -size }) },
  ]);
  return refusal === undefined;
};

/** confirmed → deleted: gives back what was charged, once. False where there is no such file. */
export const discharge = async (ref: FileRef, size: number): Promise<boolean> => {
  const refusal = await transact([
    { Delete: { Key: fileItemKey(ref), ConditionExpression: given } },
    { Update: count(ref, { held: -size, used: -size, files: -1 }) },
    putDueEntry(ref, 'deleted'),
  ]);
  return refusal === undefined;
};

/** In which state a path is; `undefined` where it is deleted, expired or was never given out. */
export const stateOf = async (ref: FileRef): Promise<UploadState | undefined> => {
  try {
    const { Responses = [] } = await onTable((client, TableName) =>
      throughConflicts(() =>
        client.send(
          new TransactGetItemsCommand({
            TransactItems: [uploadKey(ref), fileItemKey(ref)].map((Key) => ({ Get: { TableName, Key } })),
          }),
        ),
      ),
    );
    return stateFrom(Responses[0]?.Item, Responses[1]?.Item);
  } catch (cause) {
    if (!(cause instanceof TransactionCanceledException)) throw cause;
    throw new AppError('TOO_MANY_WRITERS', 'The service is busy right now. Please try again.', {
      cause,
      retryAfter: 1,
    });
  }
};
