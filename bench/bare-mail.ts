import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type Db, type Document, ObjectId } from 'mongodb';

const { TABLE_NAME: TableName, BENCH_QUEUE: QueueUrl, MAIL_PROVIDER_URL = '' } = process.env;
const dynamo = new DynamoDBClient({});
const sqs = new SQSClient({});

const count = (mails: number): Promise<unknown> =>
  dynamo.send(
    new UpdateItemCommand({
      TableName,
      Key: { pk: { S: 'bare' }, sk: { S: 'mails' } },
      UpdateExpression: 'ADD used :mails',
      ConditionExpression: 'attribute_not_exists(used) OR used < :room',
      ExpressionAttributeValues: { ':mails': { N: String(mails) }, ':room': { N: '999999999' } },
    }),
  );

/** Accepting an email in a hand-written server: count, store and enqueue it. */
export const bareMail = async (database: Db, mail: Document): Promise<Document> => {
  await count(1);
  const { insertedId } = await database
    .collection('bare-mails')
    .insertOne({ ...mail, status: 'queued', createdAt: new Date() });
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: String(insertedId) }));
  return { id: insertedId };
};

/** Sending a batch: count and store it, send it to the provider, store the ids. */
export const bareMailBatch = async (database: Db, bodies: readonly Document[]): Promise<Document[]> => {
  await count(bodies.length);
  const collection = database.collection('bare-mails');
  const mails = bodies.map((mail) => ({ _id: new ObjectId(), ...mail, status: 'queued', createdAt: new Date() }));
  await collection.insertMany(mails);
  const response = await fetch(`${MAIL_PROVIDER_URL}/emails/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': String(mails[0]?._id) },
    body: JSON.stringify(bodies),
  });
  const { data } = (await response.json()) as { readonly data: readonly { readonly id: string }[] };
  await collection.bulkWrite(
    mails.map(({ _id }, index) => ({
      updateOne: { filter: { _id }, update: { $set: { status: 'sent', providerEmailId: data[index]?.id } } },
    })),
    { ordered: false },
  );
  return [...data];
};
