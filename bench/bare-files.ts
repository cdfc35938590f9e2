import { randomUUID } from 'node:crypto';
import { DynamoDBClient, GetItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Document } from 'mongodb';

const { TABLE_NAME: TableName = '', FILES_BUCKET: Bucket = '' } = process.env;
const dynamo = new DynamoDBClient({});
const s3 = new S3Client({
  forcePathStyle: true,
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
});

const room = String(10 * 1024 ** 3);
const keyOf = (kind: 'upload' | 'file' | 'quota', path: string) => ({
  pk: { S: 'bare' },
  sk: { S: `${kind}#${path}` },
});
const quota = { TableName, Key: keyOf('quota', '') };
const isThere = 'attribute_exists(pk)';

const request = async ({ filename, contentType, size }: Document): Promise<Document> => {
  const filePath = `bare/${randomUUID()}_${filename}`;
  const put = new PutObjectCommand({
    Bucket,
    Key: `pending/${filePath}`,
    ContentType: contentType,
    ContentLength: size,
  });
  const signedUrl = await getSignedUrl(s3, put, {
    expiresIn: 600,
    signableHeaders: new Set(['content-type', 'content-length']),
  });
  await dynamo.send(
    new TransactWriteItemsCommand({
      TransactItems: [
        {
          Update: {
            ...quota,
            UpdateExpression: 'ADD held :size',
            ConditionExpression: 'attribute_not_exists(held) OR held < :room',
            ExpressionAttributeValues: { ':size': { N: String(size) }, ':room': { N: room } },
          },
        },
        { Put: { TableName, Item: { ...keyOf('upload', filePath), bytes: { N: String(size) } } } },
      ],
    }),
  );
  return { signedUrl, filePath };
};

const confirm = async ({ filePath, size }: Document): Promise<Document> => {
  const Key = `pending/${filePath}`;
  const { ETag, ContentLength } = await s3.send(new HeadObjectCommand({ Bucket, Key }));
  if (ContentLength !== size) throw new Error('Another size');
  await s3.send(
    new CopyObjectCommand({
      Bucket,
      CopySource: `${Bucket}/${Key}`,
      CopySourceIfMatch: ETag,
      Key: `files/${filePath}`,
    }),
  );
  await dynamo.send(
    new TransactWriteItemsCommand({
      TransactItems: [
        { Delete: { TableName, Key: keyOf('upload', filePath), ConditionExpression: isThere } },
        { Put: { TableName, Item: { ...keyOf('file', filePath), bytes: { N: String(size) } } } },
        {
          Update: {
            ...quota,
            UpdateExpression: 'ADD used :size',
            ExpressionAttributeValues: { ':size': { N: String(size) } },
          },
        },
      ],
    }),
  );
  return { path: filePath };
};

const remove = async ({ path }: Document): Promise<Document> => {
  const Key = keyOf('file', path);
  const { Item } = await dynamo.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  await dynamo.send(
    new TransactWriteItemsCommand({
      TransactItems: [
        { Delete: { TableName, Key, ConditionExpression: isThere } },
        {
          Update: {
            ...quota,
            UpdateExpression: 'ADD used :size, held :size',
            ExpressionAttributeValues: { ':size': { N: `-${Item?.bytes?.N}` } },
          },
        },
      ],
    }),
  );
  await s3.send(new DeleteObjectCommand({ Bucket, Key: `files/${path}` }));
  return {};
};

const routes = new Map([
  ['upload-request', request],
  ['upload-confirm', confirm],
  ['file', remove],
]);

/** File routes of a hand-written server: the transaction and the S3 requests. */
export const bareFiles = async (route: string, body: Document): Promise<Document> => {
  const act = routes.get(route);
  if (!act) throw new Error(`There is no ${route}`);
  return act(body);
};
