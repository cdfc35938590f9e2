import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Db, Document } from 'mongodb';

const { TABLE_NAME: TableName, BENCH_QUEUE: QueueUrl } = process.env;
const dynamo = new DynamoDBClient({});
const sqs = new SQSClient({});

/** What a hand-written server would do to accept a mail: count it, keep it, queue it. */
export const bareMail = async (database: Db, mail: Document): Promise<Document> => {
  await dynamo.send(
    new UpdateItemCommand({
      TableName,
      Key: { pk: { S: 'bare' }, sk: { S: 'mails' } },
      UpdateExpression: 'ADD used :one',
      ConditionExpression: 'attribute_not_exists(used) OR used < :room',
      ExpressionAttributeValues: { ':one': { N: '1' }, ':room': { N: '999999999' } },
    }),
  );
  const { insertedId } = await database
    .collection('bare-mails')
    .insertOne({ ...mail, status: 'queued', createdAt: new Date() });
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: String(insertedId) }));
  return { id: insertedId };
};
