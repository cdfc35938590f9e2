import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { DeploymentSettings } from '../settings/settings.ts';
import type { Verifiers } from './verifiers.ts';

/** Where files are: those that wait to be confirmed, those that everybody may read, and those that a link opens. */
export const fileFolders = ['pending', 'files', 'private'] as const;

/** Where exports and imports are, for two days. */
export const transferFolders = ['exports', 'imports'] as const;

/** Where large answers are that repeats get, for two days. */
export const answerFolder = 'answers';

/** The stores that functions are let into, by their addresses. */
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
    /** CloudFront's group of the keys that open links; without CloudFront there is none. */
    readonly keyGroup: string | undefined;
    /** What the names of its keys begin with. */
    readonly keyPrefix: string;
    /** Without CloudFront: the id of the one key that signs links. */
    readonly linkKey?: string | undefined;
  };
  /** Where nudges are published; not there without live updates. */
  readonly nudges?: { readonly namespaceArn: string; readonly url: string } | undefined;
}

/** Actions on the items whose partition key matches; others can be neither read nor written. */
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

/** What reading and changing items takes, in transactions too. */
export const keepingItems = ['ConditionCheckItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'];

/** Objects of these folders. Without the right to list, S3 would answer 403 and not 404 for one that is not there. */
export const onFiles = ({ files: { bucketArn } }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
    resources: [bucketArn, ...fileFolders.map((folder) => `${bucketArn}/${folder}/*`)],
  });

/**
 * Exports and imports, in folders of their own that no public address leads to; a part of an upload is put like an
 * object.
 */
export const onTransfers = ({ files: { bucketArn } }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
    resources: [bucketArn, ...transferFolders.map((folder) => `${bucketArn}/${folder}/*`)],
  });

/** Answers that are kept for repeats, in a folder of their own that no public address leads to. */
export const onAnswers = ({ files: { bucketArn } }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
    resources: [bucketArn, `${bucketArn}/${answerFolder}/*`],
  });

/** Reading one secret. */
export const onSecret = ({ secretArn }: { readonly secretArn: string }): PolicyStatement =>
  new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] });

/** Actions on one queue. */
export const onQueue = ({ queueArn }: { readonly queueArn: string }, actions: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `sqs:${action}`), resources: [queueArn] });

/** What taking messages off a queue needs. */
export const consuming = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'];

/** Publishing in the one namespace of channels, where there are live updates. */
export const onNudges = ({ nudges }: Stores): PolicyStatement | undefined =>
  nudges && new PolicyStatement({ actions: ['appsync:EventPublish'], resources: [nudges.namespaceArn] });

/** Calling the two functions that verify databases. */
export const onVerifiers = ({ verifiers }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['lambda:InvokeFunction'],
    resources: Object.values(verifiers).map(({ functionArn }) => functionArn),
  });

/** The public keys of the account's distributions, and which of them open links; neither has names of its own here. */
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

/** Asking the bucket and the queues whether they are there. */
export const onPlaces = ({ files, mailQueue, workQueue, webhookQueue }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:ListBucket', 'sqs:GetQueueAttributes'],
    resources: [files.bucketArn, mailQueue.queueArn, workQueue.queueArn, webhookQueue.queueArn],
  });
