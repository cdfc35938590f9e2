import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { DeploymentSettings } from '../settings/settings.ts';
import type { Verifiers } from './verifiers.ts';

/** Folders of files: unconfirmed, public, and private ones. */
export const fileFolders = ['pending', 'files', 'private'] as const;

/** Exports and imports, for two days. */
export const transferFolders = ['exports', 'imports'] as const;

/** Stored responses for repeated requests, for two days. */
export const answerFolder = 'answers';

/** The stores of the functions. */
export interface Stores {
  readonly table: { readonly tableArn: string; readonly tableName: string };
  readonly mongodbSecret: { readonly secretArn: string };
  readonly encryptionSecret: { readonly secretArn: string };
  readonly mailProviderSecret: { readonly secretArn: string };
  readonly mailWebhookSecret: { readonly secretArn: string };
  readonly languageModelSecret: { readonly secretArn: string };
  readonly languageModel: Pick<DeploymentSettings, 'aiBaseUrl' | 'aiModel'>;
  readonly dashboardGithubSecret: { readonly secretArn: string };
  readonly mailQueue: { readonly queueArn: string; readonly queueUrl: string };
  readonly verifiers: Verifiers;
  readonly webhookQueue: { readonly queueArn: string; readonly queueUrl: string };
  readonly workQueue: { readonly queueArn: string; readonly queueUrl: string };
  readonly files: {
    readonly bucketArn: string;
    readonly bucketName: string;
    readonly url: string;
    /** CloudFront's key group for links; `undefined` without CloudFront. */
    readonly keyGroup: string | undefined;
    /** Prefix of the names of its keys. */
    readonly keyPrefix: string;
    /** Without CloudFront: the id of the key that signs links. */
    readonly linkKey?: string | undefined;
  };
  /** The address for publishing; `undefined` without live updates. */
  readonly nudges?: { readonly namespaceArn: string; readonly url: string } | undefined;
}

/** Allows actions only on items whose partition key matches. */
export const onItems = (
  { table }: Stores,
  partitionKeys: string | string[],
  actions: readonly string[],
): PolicyStatement =>
  new PolicyStatement({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn],
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [partitionKeys].flat() } },
  });

/** Reading and changing items, also in transactions. */
export const keepingItems = ['ConditionCheckItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'];

/** Objects of these folders. Without permission to list, S3 would return 403 instead of 404 for missing ones. */
export const onFiles = ({ files: { bucketArn } }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
    resources: [bucketArn, ...fileFolders.map((folder) => `${bucketArn}/${folder}/*`)],
  });

/**
 * Exports and imports are in folders without a public address. Uploading a part needs the same permission as an object.
 */
export const onTransfers = ({ files: { bucketArn } }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
    resources: [bucketArn, ...transferFolders.map((folder) => `${bucketArn}/${folder}/*`)],
  });

/** Stored responses are in a folder without a public address. */
export const onAnswers = ({ files: { bucketArn } }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
    resources: [bucketArn, `${bucketArn}/${answerFolder}/*`],
  });

export const onSecret = ({ secretArn }: { readonly secretArn: string }): PolicyStatement =>
  new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] });

export const onQueue = ({ queueArn }: { readonly queueArn: string }, actions: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `sqs:${action}`), resources: [queueArn] });

/** Consuming a queue. */
export const consuming = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'];

/** Publishing to the namespace of channels, if there are live updates. */
export const onNudges = ({ nudges }: Stores): PolicyStatement | undefined =>
  nudges && new PolicyStatement({ actions: ['appsync:EventPublish'], resources: [nudges.namespaceArn] });

/** Invoking the two database verifiers. */
export const onVerifiers = ({ verifiers }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['lambda:InvokeFunction'],
    resources: Object.values(verifiers).map(({ functionArn }) => functionArn),
  });

/** CloudFront's public keys and key groups; AWS supports no narrower resources for these actions. */
export const onKeyGroups = ({ files: { keyGroup } }: Stores): PolicyStatement | undefined =>
  keyGroup === undefined
    ? undefined
    : new PolicyStatement({
        actions: [
          'cloudfront:CreatePublicKey',
          'cloudfront:DeletePublicKey',
          'cloudfront:GetKeyGroup',
          'cloudfront:GetPublicKeyConfig',
          'cloudfront:ListPublicKeys',
          'cloudfront:UpdateKeyGroup',
        ],
        resources: ['*'],
      });

/** Health checks of the bucket and the queues. */
export const onPlaces = ({ files, mailQueue, workQueue, webhookQueue }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:ListBucket', 'sqs:GetQueueAttributes'],
    resources: [files.bucketArn, mailQueue.queueArn, workQueue.queueArn, webhookQueue.queueArn],
  });
