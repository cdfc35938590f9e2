import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { AppError } from '../core/errors.ts';
import type { Page, PageRequest } from '../core/page.ts';
import type { Project } from '../projects/project.ts';
import { type StoredFile, toStoredFile } from './find-file.ts';
import { storageIdOf } from './storage-keys.ts';
import { storageUsage } from './storage-usage.ts';
import { filePrefix, type Item } from './upload-items.ts';

/** The table cannot skip: what comes before a page is read too, so there is an end to it. */
const maxListed = 10_000;

/** The newest `count` files: their keys sort by the time of their request. */
const newest = async (project: Project, count: number): Promise<Item[]> => {
  const items: Item[] = [];
  let after: Record<string, AttributeValue> | undefined;
  do {
    const start = after;
    const { Items = [], LastEvaluatedKey } = await onTable((client, TableName) =>
      client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :project AND begins_with(sk, :file)',
          ExpressionAttributeValues: {
            ':project': { S: `p#${project.id}` },
            ':file': { S: filePrefix(storageIdOf(project.storage)) },
          },
          ScanIndexForward: false,
          Limit: count - items.length,
          ...(start ? { ExclusiveStartKey: start } : {}),
        }),
      ),
    );
    items.push(...Items);
    after = LastEvaluatedKey;
  } while (after && items.length < count);
  return items;
};

/**
 * The confirmed files of the storage that the project has now, newest first; `total` counts them all. A page that ends
 * after the 10 000th file → 400 `INVALID_QUERY`.
 */
export const listFiles = async (project: Project, { page, limit }: PageRequest): Promise<Page<StoredFile>> => {
  if (page * limit > maxListed) {
    throw new AppError(
      'INVALID_QUERY',
      `page and limit lead beyond the newest ${maxListed} files, which can be listed.`,
    );
  }
  const [items, { files: total }] = await Promise.all([newest(project, page * limit), storageUsage(project)]);
  return { items: items.slice((page - 1) * limit).map((item) => toStoredFile(project, item)), total, page, limit };
};
