import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { developerScope, projectScope } from '../../shared/accounts/session-keys.ts';
import type { Use } from '../../shared/http/route.ts';
import { ownerScope, serviceScope } from '../../shared/table/keys.ts';
import type { Verifiers } from '../build/verifiers.ts';

/** Where files are: those that wait to be confirmed, and those that everybody may read. */
export const fileFolders = ['pending', 'files'] as const;

/** Where exports and imports are, for two days. */
export const transferFolders = ['exports', 'imports'] as const;

/** The stores that functions are let into, by their addresses. */
export interface Stores {
  readonly table: { readonly tableArn: string; readonly tableName: string };
  readonly mongodbSecret: { readonly secretArn: string };
  readonly encryptionSecret: { readonly secretArn: string };
  readonly mailProviderSecret: { readonly secretArn: string };
  readonly mailWebhookSecret: { readonly secretArn: string };
  readonly languageModelSecret: { readonly secretArn: string };
  readonly dashboardGithubSecret: { readonly secretArn: string };
  readonly mailQueue: { readonly queueArn: string; readonly queueUrl: string };
  readonly verifiers: Verifiers;
  readonly workQueue: { readonly queueArn: string; readonly queueUrl: string };
  readonly files: { readonly bucketArn: string; readonly bucketName: string; readonly url: string };
}

/** Whose sessions a function deals with: those of end users, or those of developers (the dashboard). */
export type Sessions = 'users' | 'developers';

const everyProject = projectScope('*');

/** What is counted for the owners of projects. */
const everyOwner = ownerScope('*');

const sessionKeys: Readonly<Record<Sessions, string>> = { users: everyProject, developers: developerScope };

/** Where the codes of mails are, and what counts the mails themselves: those to developers, nothing. */
const mailKeys: Readonly<Record<Sessions, string[]>> = {
  users: [everyProject, everyOwner],
  developers: [developerScope],
};

/** Actions on the items whose partition key matches; others can be neither read nor written. */
const onItems = ({ table }: Stores, partitionKeys: string | string[], actions: readonly string[]): PolicyStatement =>
  new PolicyStatement({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn],
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [partitionKeys].flat() } },
  });

/** What reading and changing items takes, in transactions too. */
const keepingItems = ['ConditionCheckItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'];

const onSessions = (stores: Stores, partitionKey: string): PolicyStatement =>
  onItems(stores, partitionKey, keepingItems);

/** Objects of the two folders. Without the right to list, S3 would answer 403 and not 404 for one that is not there. */
const onFiles = ({ files: { bucketArn } }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
    resources: [bucketArn, ...fileFolders.map((folder) => `${bucketArn}/${folder}/*`)],
  });

/**
 * Exports and imports, in folders of their own that no public address leads to; a part of an upload is put like an
 * object.
 */
const onTransfers = ({ files: { bucketArn } }: Stores): PolicyStatement =>
  new PolicyStatement({
    actions: ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
    resources: [bucketArn, ...transferFolders.map((folder) => `${bucketArn}/${folder}/*`)],
  });

const readSecret = ({ secretArn }: { readonly secretArn: string }): PolicyStatement =>
  new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] });

const onQueue = ({ queueArn }: { readonly queueArn: string }, actions: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `sqs:${action}`), resources: [queueArn] });

/** What taking messages off a queue needs. */
const consuming = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'];

/** What every function behind a gateway may do: count the request, for its limits and for the statistics. */
export const rateCounting = (stores: Stores): PolicyStatement => onItems(stores, ['rate#*', 'stats#*'], ['UpdateItem']);

const statementOf: Readonly<Record<Use, (stores: Stores, sessions: Sessions) => PolicyStatement>> = {
  mongodb: ({ mongodbSecret }) => readSecret(mongodbSecret),
  encryption: ({ encryptionSecret }) => readSecret(encryptionSecret),
  sessions: (stores, sessions) => onSessions(stores, sessionKeys[sessions]),
  'user-sessions': (stores) => onSessions(stores, everyProject),
  'developer-sessions': (stores) => onSessions(stores, developerScope),
  'session-check': (stores) => onItems(stores, developerScope, ['GetItem']),
  'dashboard-github': ({ dashboardGithubSecret }) => readSecret(dashboardGithubSecret),
  'email-tokens': (stores, sessions) => onItems(stores, mailKeys[sessions], ['PutItem', 'UpdateItem']),
  lockouts: (stores) => onItems(stores, 'lock#*', ['UpdateItem']),
  files: onFiles,
  transfers: onTransfers,
  uploads: (stores) => onItems(stores, [everyProject, 'due#uploads#*'], keepingItems),
  purge: (stores) => onItems(stores, [everyProject, 'stats#*'], ['BatchWriteItem', 'Query']),
  'mail-queue': ({ mailQueue }) => onQueue(mailQueue, ['SendMessage']),
  'mail-delivery': ({ mailQueue }) => onQueue(mailQueue, consuming),
  verifiers: ({ verifiers }) =>
    new PolicyStatement({
      actions: ['lambda:InvokeFunction'],
      resources: Object.values(verifiers).map(({ functionArn }) => functionArn),
    }),
  'work-queue': ({ workQueue }) => onQueue(workQueue, ['SendMessage']),
  'work-delivery': ({ workQueue }) => onQueue(workQueue, consuming),
  'language-model': ({ languageModelSecret }) => readSecret(languageModelSecret),
  'language-model-quota': (stores) => onItems(stores, everyOwner, ['UpdateItem']),
  'mail-provider': ({ mailProviderSecret }) => readSecret(mailProviderSecret),
  'mail-quota': (stores) => onItems(stores, [everyProject, everyOwner, serviceScope], ['GetItem', 'UpdateItem']),
  usage: (stores) => onItems(stores, [everyProject, 'stats#*'], ['GetItem']),
  'mail-webhook': ({ mailWebhookSecret }) => readSecret(mailWebhookSecret),
  health: ({ files, mailQueue, workQueue }) =>
    new PolicyStatement({
      actions: ['s3:ListBucket', 'sqs:GetQueueAttributes'],
      resources: [files.bucketArn, mailQueue.queueArn, workQueue.queueArn],
    }),
};

/** One statement a use, on exactly the resource it needs. */
export const statementsFor = (uses: readonly Use[], stores: Stores, sessions: Sessions = 'users'): PolicyStatement[] =>
  uses.map((use) => statementOf[use](stores, sessions));

/** The uses for which a function has to know the queue. */
const mailQueueUses: readonly Use[] = ['mail-queue', 'mail-delivery', 'health'];
/** The uses for which a function has to know where the public files are. */
const fileUses: readonly Use[] = ['files', 'uploads', 'transfers', 'health'];
/** And the bucket. */
const bucketUses: readonly Use[] = ['files', 'transfers', 'health'];
const workQueueUses: readonly Use[] = ['work-queue', 'work-delivery', 'health'];

const verifierVariables = ({ verifiers }: Stores): Record<string, string> => ({
  VERIFIER_A: verifiers['verify-database-a'].functionName,
  VERIFIER_B: verifiers['verify-database-b'].functionName,
});

/** Environment that tells a function where the things are that it may use. */
export const variablesFor = (uses: readonly Use[], stores: Stores): Record<string, string> => ({
  TABLE_NAME: stores.table.tableName,
  ...(uses.includes('mongodb') ? { MONGODB_SECRET_ARN: stores.mongodbSecret.secretArn } : {}),
  ...(uses.includes('encryption') ? { ENCRYPTION_SECRET_ARN: stores.encryptionSecret.secretArn } : {}),
  ...(bucketUses.some((use) => uses.includes(use)) ? { FILES_BUCKET: stores.files.bucketName } : {}),
  ...(fileUses.some((use) => uses.includes(use)) ? { FILES_URL: stores.files.url } : {}),
  ...(uses.includes('mail-provider') ? { MAIL_PROVIDER_SECRET_ARN: stores.mailProviderSecret.secretArn } : {}),
  ...(uses.includes('mail-webhook') ? { MAIL_WEBHOOK_SECRET_ARN: stores.mailWebhookSecret.secretArn } : {}),
  ...(uses.includes('language-model') ? { AI_SECRET_ARN: stores.languageModelSecret.secretArn } : {}),
  ...(uses.includes('dashboard-github') ? { DASHBOARD_GITHUB_SECRET_ARN: stores.dashboardGithubSecret.secretArn } : {}),
  ...(mailQueueUses.some((use) => uses.includes(use)) ? { MAIL_QUEUE_URL: stores.mailQueue.queueUrl } : {}),
  ...(uses.includes('verifiers') ? verifierVariables(stores) : {}),
  ...(workQueueUses.some((use) => uses.includes(use)) ? { WORK_QUEUE_URL: stores.workQueue.queueUrl } : {}),
});
