import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Permission } from '../../shared/http/uses.ts';
import { developerScope, leadingKeys } from '../../shared/persistence/item-keys.ts';
import {
  consuming,
  keepingItems,
  onAnswers,
  onFiles,
  onItems,
  onKeyGroups,
  onNudges,
  onPlaces,
  onQueue,
  onSecret,
  onTransfers,
  onVerifiers,
  type Stores,
} from './statements.ts';

/** Whose sessions a function deals with: those of end users, or those of developers (the dashboard). */
export type Sessions = 'users' | 'developers';

type Variables = Readonly<Record<string, string>>;

/** What a use means for a deployment. */
interface Grant {
  readonly why: string;
  /** Exactly what it lets a function do, and on what. */
  readonly statement: (stores: Stores, sessions: Sessions) => PolicyStatement | undefined;
  /** The environment that tells the function where that is; every function has `TABLE_NAME`. */
  readonly variables?: (stores: Stores) => Variables;
}

const everyProject = leadingKeys('project');

/** Statistics of all projects. */
const everyStats = leadingKeys('stats');

/** What is counted for the owners of projects. */
const everyOwner = leadingKeys('owner');

const sessionKeys: Readonly<Record<Sessions, string>> = { users: everyProject, developers: developerScope };

/** Where the codes of mails are, and what counts the mails themselves: those to developers, nothing. */
const mailKeys: Readonly<Record<Sessions, string[]>> = {
  users: [everyProject, everyOwner],
  developers: [developerScope],
};

const publicFiles = ({ files }: Stores): Variables => ({ FILES_URL: files.url });
const bucket = ({ files }: Stores): Variables => ({ FILES_BUCKET: files.bucketName, FILES_URL: files.url });
const mailQueueUrl = ({ mailQueue }: Stores): Variables => ({ MAIL_QUEUE_URL: mailQueue.queueUrl });
const webhookQueueUrl = ({ webhookQueue }: Stores): Variables => ({ WEBHOOK_QUEUE_URL: webhookQueue.queueUrl });
const workQueueUrl = ({ workQueue }: Stores): Variables => ({ WORK_QUEUE_URL: workQueue.queueUrl });

const grants: Readonly<Record<Permission, Grant>> = {
  mongodb: {
    why: 'the control database and the projects that it holds',
    statement: ({ mongodbSecret }) => onSecret(mongodbSecret),
    variables: ({ mongodbSecret }) => ({ MONGODB_SECRET_ARN: mongodbSecret.secretArn }),
  },
  nudges: {
    why: 'telling those who watch a collection of what was written',
    statement: onNudges,
    variables: ({ nudges }): Variables => (nudges ? { REALTIME_PUBLISH_URL: nudges.url } : {}),
  },
  repeats: {
    why: 'which requests with an Idempotency-Key were carried out, and what was answered',
    statement: (stores) => onItems(stores, everyProject, ['UpdateItem']),
  },
  answers: {
    why: 'the answers to them that are too large for the table',
    statement: onAnswers,
    variables: bucket,
  },
  encryption: {
    why: 'the master key: sealed keys and URIs of projects, signing keys, codes of mails, tokens of developers',
    statement: ({ encryptionSecret }) => onSecret(encryptionSecret),
    variables: ({ encryptionSecret }) => ({ ENCRYPTION_SECRET_ARN: encryptionSecret.secretArn }),
  },
  sessions: {
    why: 'refresh sessions, of whom the API is for, with their states and versions',
    statement: (stores, sessions) => onItems(stores, sessionKeys[sessions], keepingItems),
  },
  'user-sessions': {
    why: 'refresh sessions of end users, behind the API of developers',
    statement: (stores) => onItems(stores, everyProject, keepingItems),
  },
  'developer-sessions': {
    why: 'refresh sessions of developers, which a job ends',
    statement: (stores) => onItems(stores, developerScope, keepingItems),
  },
  'session-check': {
    why: 'asking whether the session of a developer still stands, before something is changed for them',
    statement: (stores) => onItems(stores, developerScope, ['GetItem']),
  },
  'dashboard-github': {
    why: "the secret of the dashboard's app at GitHub",
    statement: ({ dashboardGithubSecret }) => onSecret(dashboardGithubSecret),
    variables: ({ dashboardGithubSecret }) => ({ DASHBOARD_GITHUB_SECRET_ARN: dashboardGithubSecret.secretArn }),
  },
  'email-tokens': {
    why: 'tokens and codes that mails carry, and what keeps such mails few',
    statement: (stores, sessions) => onItems(stores, mailKeys[sessions], ['PutItem', 'UpdateItem']),
  },
  lockouts: {
    why: 'counting failed sign-ins',
    statement: (stores) => onItems(stores, leadingKeys('lock'), ['UpdateItem']),
  },
  purge: {
    why: 'removing everything of a project, or of its users, from the table',
    statement: (stores) => onItems(stores, [everyProject, everyStats], ['BatchWriteItem', 'Query']),
  },
  files: {
    why: 'files in our bucket, or in that of a project',
    statement: onFiles,
    variables: bucket,
  },
  uploads: {
    why: 'what the table knows of uploads, files and their quota',
    statement: (stores) => onItems(stores, [everyProject, leadingKeys('due')], keepingItems),
    variables: publicFiles,
  },
  'file-links': {
    why: 'which key signs links to files',
    statement: (stores) => onItems(stores, leadingKeys('service'), ['Query']),
  },
  'link-keys': {
    why: 'the keys that sign links to files, and since when',
    statement: (stores) => onItems(stores, leadingKeys('service'), ['DeleteItem', 'PutItem']),
  },
  'key-group': {
    why: 'which keys open links to files at CloudFront',
    statement: onKeyGroups,
    variables: ({ files }) => ({ LINK_KEY_GROUP: files.keyGroup, LINK_KEY_PREFIX: files.keyPrefix }),
  },
  verifiers: {
    why: 'having the databases of customers verified, from either address',
    statement: onVerifiers,
    variables: ({ verifiers }) => ({
      VERIFIER_A: verifiers['verify-database-a'].functionName,
      VERIFIER_B: verifiers['verify-database-b'].functionName,
    }),
  },
  transfers: {
    why: 'the files of exports and imports, in our bucket',
    statement: onTransfers,
    variables: bucket,
  },
  'work-queue': {
    why: 'sending tasks to the work queue',
    statement: ({ workQueue }) => onQueue(workQueue, ['SendMessage']),
    variables: workQueueUrl,
  },
  'work-delivery': {
    why: 'taking tasks off the work queue',
    statement: ({ workQueue }) => onQueue(workQueue, consuming),
    variables: workQueueUrl,
  },
  'webhook-queue': {
    why: 'having webhooks looked at, of which something may be to be told',
    statement: ({ webhookQueue }) => onQueue(webhookQueue, ['SendMessage']),
    variables: webhookQueueUrl,
  },
  'webhook-delivery': {
    why: 'taking from their queue which webhooks are to be looked at',
    statement: ({ webhookQueue }) => onQueue(webhookQueue, consuming),
    variables: webhookQueueUrl,
  },
  'mail-queue': {
    why: 'accepting mails',
    statement: ({ mailQueue }) => onQueue(mailQueue, ['SendMessage']),
    variables: mailQueueUrl,
  },
  'mail-delivery': {
    why: 'taking mails off their queue',
    statement: ({ mailQueue }) => onQueue(mailQueue, consuming),
    variables: mailQueueUrl,
  },
  'language-model': {
    why: "the endpoint of the schema assistant's language model, and its key",
    statement: ({ languageModelSecret }) => onSecret(languageModelSecret),
    variables: ({ languageModelSecret, languageModel: { aiBaseUrl, aiModel } }) => ({
      AI_SECRET_ARN: languageModelSecret.secretArn,
      ...(aiBaseUrl !== undefined && { AI_BASE_URL: aiBaseUrl }),
      ...(aiModel !== undefined && { AI_MODEL: aiModel }),
    }),
  },
  'language-model-quota': {
    why: 'counting the proposals of the schema assistant',
    statement: (stores) => onItems(stores, everyOwner, ['UpdateItem']),
  },
  'mail-provider': {
    why: 'the key of the mail provider that projects share',
    statement: ({ mailProviderSecret }) => onSecret(mailProviderSecret),
    variables: ({ mailProviderSecret }) => ({ MAIL_PROVIDER_SECRET_ARN: mailProviderSecret.secretArn }),
  },
  'mail-quota': {
    why: "the slots of the month that a project's mails take, and what their owner and the service have left",
    statement: (stores) =>
      onItems(stores, [everyProject, everyOwner, leadingKeys('service')], ['GetItem', 'UpdateItem']),
  },
  'mail-webhook': {
    why: 'the secret that the events of the mail provider are signed with',
    statement: ({ mailWebhookSecret }) => onSecret(mailWebhookSecret),
    variables: ({ mailWebhookSecret }) => ({ MAIL_WEBHOOK_SECRET_ARN: mailWebhookSecret.secretArn }),
  },
  usage: {
    why: 'what a project has used: its counts of requests, mails and files',
    statement: (stores) => onItems(stores, [everyProject, everyStats], ['GetItem']),
  },
  health: {
    why: 'asking the bucket and the queues whether they are there',
    statement: onPlaces,
    variables: (stores) => ({
      ...bucket(stores),
      ...mailQueueUrl(stores),
      ...workQueueUrl(stores),
      ...webhookQueueUrl(stores),
    }),
  },
};

/** What every function behind a gateway may do: count the request, for its limits and for the statistics. */
export const rateCounting = (stores: Stores): PolicyStatement =>
  onItems(stores, [leadingKeys('rate'), everyStats], ['UpdateItem']);

/** One statement a use, on exactly the resource it needs. */
export const statementsFor = (
  uses: readonly Permission[],
  stores: Stores,
  sessions: Sessions = 'users',
): PolicyStatement[] => uses.flatMap((use) => grants[use].statement(stores, sessions) ?? []);

/** Environment that tells a function where the things are that it may use. */
export const variablesFor = (uses: readonly Permission[], stores: Stores): Record<string, string> =>
  Object.assign({ TABLE_NAME: stores.table.tableName }, ...uses.map((use) => grants[use].variables?.(stores)));
