import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type Job, queueStartOf } from '../../functions/jobs/jobs.ts';
import { isRead, type Route } from '../../shared/http/route.ts';
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

/** Sessions of end users, or of developers (the dashboard). */
export type Sessions = 'users' | 'developers';

type Variables = Readonly<Record<string, string>>;

/** A permission: the code that needs it, what it allows, and the variables that name its resource. */
interface Grant {
  readonly why: string;
  /**
   * Functions of `shared/`, as `file#name`. Every bundle that contains one of them gets the permission. Without this
   * list, it follows from the route or from the job's trigger.
   */
  readonly reachedBy?: readonly string[];
  readonly statement: (stores: Stores, sessions: Sessions) => PolicyStatement | undefined;
  /** Variables that name the resource; every function has `TABLE_NAME`. */
  readonly variables?: (stores: Stores) => Variables;
}

const everyProject = leadingKeys('project');

/** Statistics of all projects. */
const everyStats = leadingKeys('stats');

/** Counters for owners of projects. */
const everyOwner = leadingKeys('owner');

const sessionKeys: Readonly<Record<Sessions, string>> = { users: everyProject, developers: developerScope };

/** Codes of emails, and counters of emails; emails to developers have none. */
const mailKeys: Readonly<Record<Sessions, string[]>> = {
  users: [everyProject, everyOwner],
  developers: [developerScope],
};

const publicFiles = ({ files }: Stores): Variables => ({ FILES_URL: files.url });
const bucket = ({ files }: Stores): Variables => ({ FILES_BUCKET: files.bucketName, FILES_URL: files.url });
const mailQueueUrl = ({ mailQueue }: Stores): Variables => ({ MAIL_QUEUE_URL: mailQueue.queueUrl });
const webhookQueueUrl = ({ webhookQueue }: Stores): Variables => ({ WEBHOOK_QUEUE_URL: webhookQueue.queueUrl });
const workQueueUrl = ({ workQueue }: Stores): Variables => ({ WORK_QUEUE_URL: workQueue.queueUrl });

const defineGrants = <const K extends string>(all: Readonly<Record<K, Grant>>): Readonly<Record<K, Grant>> => all;

const grants = defineGrants({
  mongodb: {
    why: 'the control database and the projects that it holds',
    reachedBy: ['persistence/mongo.ts#onControl', 'persistence/mongo.ts#onManaged', 'persistence/mongo.ts#onProject'],
    statement: ({ mongodbSecret }) => onSecret(mongodbSecret),
    variables: ({ mongodbSecret }) => ({ MONGODB_SECRET_ARN: mongodbSecret.secretArn }),
  },
  nudges: {
    why: 'telling those who watch a collection of what was written',
    reachedBy: ['documents/store/publish.ts#publishChange'],
    statement: onNudges,
    variables: ({ nudges }): Variables => (nudges ? { REALTIME_PUBLISH_URL: nudges.url } : {}),
  },
  repeats: {
    why: 'which requests with an Idempotency-Key were executed, and their responses',
    reachedBy: ['persistence/idempotency.ts#acquireKey'],
    statement: (stores) => onItems(stores, everyProject, ['UpdateItem']),
  },
  answers: {
    why: 'the responses to them that are too large for the table',
    reachedBy: [
      'persistence/objects.ts#putObject',
      'persistence/objects.ts#getObject',
      'deletion/projects.ts#removeProjectFiles',
    ],
    statement: onAnswers,
    variables: bucket,
  },
  encryption: {
    why: 'the master key: sealed keys and URIs of projects, signing keys, codes of emails, tokens of developers',
    // URIs of customers' databases are encrypted.
    reachedBy: [
      'persistence/mongo.ts#onProject',
      'accounts/tokens.ts#privateKeyOf',
      'accounts/tokens.ts#newSigningKey',
      'accounts/users/social-site.ts#clientCredentials',
      'accounts/tokens.ts#verifyDashboardToken',
      'accounts/tokens.ts#issueDashboardToken',
      'accounts/email-tokens.ts#hashCode',
      'accounts/second-factor.ts#startTotp',
      'accounts/second-factor.ts#openSecret',
      'accounts/second-factor.ts#hashRecoveryCode',
      'customer-database/connect.ts#connectDatabase',
      'customer-database/verification.ts#verifyDatabase',
      'mail/content.ts#sealContent',
      'accounts/users/users.ts#sealLastView',
      'accounts/users/invitations.ts#openFields',
      'webhooks/send.ts#sealSecret',
      'webhooks/send.ts#signingSecrets',
      'mail/content.ts#openContent',
      'mail/content.ts#customerProviderKey',
      'mail/event-signature.ts#projectSecrets',
      'files/storage-keys.ts#openStorageKeys',
      'files/link-keys.ts#linkKeyOf',
      'files/storage-keys.ts#sealStorageKeys',
      'usage/health.ts#checkHealth',
      'realtime/channels.ts#issueTicket',
      'realtime/channels.ts#readTicket',
    ],
    statement: ({ encryptionSecret }) => onSecret(encryptionSecret),
    variables: ({ encryptionSecret }) => ({ ENCRYPTION_SECRET_ARN: encryptionSecret.secretArn }),
  },
  sessions: {
    why: 'refresh sessions, of whom the API is for, with their states and versions',
    reachedBy: [
      'accounts/refresh-sessions.ts#startSession',
      'accounts/refresh-sessions.ts#rotate',
      'accounts/sessions.ts#endSession',
      'accounts/sessions.ts#revokeAllSessions',
      'accounts/sessions.ts#signOut',
      'accounts/sessions.ts#revokeSession',
      'accounts/sessions.ts#listSessions',
      'accounts/credentials.ts#raiseCredentialVersion',
      'accounts/credentials.ts#requireCredentialVersion',
      'accounts/users/anonymous.ts#upgradeAnonymous',
      'accounts/sessions.ts#requireRecentSession',
      'accounts/users/invitations.ts#sendUserInvitation',
      'accounts/users/accept-invitation.ts#acceptUserInvitation',
      'accounts/single-use-secrets.ts#issueSecret',
      'accounts/single-use-secrets.ts#consumeSecret',
      'accounts/second-factor.ts#countTicketTry',
    ],
    statement: (stores, sessions) => onItems(stores, sessionKeys[sessions], keepingItems),
  },
  'strict-sessions': {
    why: 'asking whether the session of a user still stands, before something is written for them',
    reachedBy: ['accounts/sessions.ts#requireUserSession'],
    statement: (stores) => onItems(stores, everyProject, ['GetItem']),
  },
  'user-sessions': {
    why: 'refresh sessions of end users, behind the API of developers',
    reachedBy: [
      'accounts/users/manage-users.ts#deleteUser',
      'accounts/users/manage-users.ts#updateUser',
      'accounts/users/manage-users.ts#listUserSessions',
      'accounts/users/manage-users.ts#revokeUserSession',
      'accounts/users/manage-users.ts#revokeUserSessions',
      'deletion/users.ts#removeIdleUsers',
    ],
    statement: (stores) => onItems(stores, everyProject, keepingItems),
  },
  'developer-sessions': {
    why: 'refresh sessions of developers, which a job ends',
    statement: (stores) => onItems(stores, developerScope, keepingItems),
  },
  'session-check': {
    why: 'checking whether the session of a developer is still valid, before something is changed for them',
    statement: (stores) => onItems(stores, developerScope, ['GetItem']),
  },
  'dashboard-github': {
    why: "the secret of the dashboard's app at GitHub",
    reachedBy: ['accounts/developers/social-site.ts#clientSecret'],
    statement: ({ dashboardGithubSecret }) => onSecret(dashboardGithubSecret),
    variables: ({ dashboardGithubSecret }) => ({ DASHBOARD_GITHUB_SECRET_ARN: dashboardGithubSecret.secretArn }),
  },
  'email-tokens': {
    why: 'tokens and codes that emails contain, and limits of these emails',
    reachedBy: [
      'accounts/email-tokens.ts#issueTokens',
      'accounts/email-tokens.ts#consumeToken',
      'accounts/email-tokens.ts#consumeCode',
      'members/invitations.ts#countInvitation',
      'members/invitations.ts#countServiceMail',
      'accounts/users/invitations.ts#sendUserInvitation',
      'accounts/account-mail.ts#countAccountMail',
    ],
    statement: (stores, sessions) => onItems(stores, mailKeys[sessions], ['PutItem', 'UpdateItem']),
  },
  lockouts: {
    why: 'counting failed sign-ins',
    reachedBy: [
      'accounts/lockout.ts#startSignIn',
      'accounts/lockout.ts#startProof',
      'accounts/lockout.ts#clearFailures',
      'accounts/lockout.ts#countFactorFailure',
      'accounts/lockout.ts#undoFactorFailure',
    ],
    statement: (stores) => onItems(stores, leadingKeys('lock'), ['UpdateItem']),
  },
  purge: {
    why: 'removing everything of a project, or of its users, from the table',
    reachedBy: ['projects/items.ts#removeProjectItems', 'projects/items.ts#removeUserItems'],
    statement: (stores) => onItems(stores, [everyProject, everyStats], ['BatchWriteItem', 'Query']),
  },
  files: {
    why: 'files in our bucket, or in that of a project',
    reachedBy: [
      'files/bucket-of.ts#bucketOf',
      'files/delete-files.ts#deleteFiles',
      'files/move-file.ts#changeVisibility',
      'files/images/make.ts#makeVariant',
      'files/serve-file.ts#bucketAddress',
      'files/cleanup.ts#sweepUploads',
      'deletion/projects.ts#removeProjectFiles',
    ],
    statement: onFiles,
    variables: bucket,
  },
  uploads: {
    why: 'what the table knows of uploads, files and their quota',
    reachedBy: [
      'files/confirm-upload.ts#confirmUpload',
      'files/delete-files.ts#deleteFile',
      'files/delete-files.ts#deleteFiles',
      'files/list-files.ts#findFile',
      'files/list-files.ts#listFiles',
      'files/list-files.ts#listOwnFiles',
      'files/request-upload.ts#requestUpload',
      'files/request-upload.ts#requestParts',
      'files/move-file.ts#changeVisibility',
      'files/delete-files.ts#endReservation',
      'files/list-files.ts#listReservations',
      'files/signed-links.ts#signLinks',
      'files/images/make.ts#makeVariant',
      'files/cleanup.ts#sweepUploads',
    ],
    statement: (stores) => onItems(stores, [everyProject, leadingKeys('due')], keepingItems),
    variables: publicFiles,
  },
  'file-links': {
    why: 'which key signs links to files',
    reachedBy: ['files/link-keys.ts#knownLinkKeys'],
    statement: (stores) => onItems(stores, leadingKeys('service'), ['Query']),
    variables: ({ files: { linkKey } }): Variables => (linkKey === undefined ? {} : { LINK_KEY_ID: linkKey }),
  },
  'link-keys': {
    why: 'the keys that sign links to files, and since when',
    reachedBy: ['files/link-keys.ts#rotateLinkKeys'],
    statement: (stores) => onItems(stores, leadingKeys('service'), ['DeleteItem', 'PutItem']),
  },
  'key-group': {
    why: 'which keys open links to files at CloudFront',
    reachedBy: ['files/link-keys.ts#setGroupKeys'],
    statement: onKeyGroups,
    variables: ({ files: { keyGroup, keyPrefix } }): Variables =>
      keyGroup === undefined ? {} : { LINK_KEY_GROUP: keyGroup, LINK_KEY_PREFIX: keyPrefix },
  },
  verifiers: {
    why: 'having the databases of customers verified, from either address',
    reachedBy: ['persistence/lambda.ts#invokeFunction'],
    statement: onVerifiers,
    variables: ({ verifiers }) => ({
      VERIFIER_A: verifiers['verify-database-a'].functionName,
      VERIFIER_B: verifiers['verify-database-b'].functionName,
    }),
  },
  transfers: {
    why: 'the files of exports and imports, in our bucket',
    reachedBy: [
      'transfers/runs.ts#abortUpload',
      'transfers/runs.ts#exportParts',
      'transfers/transfer.ts#toExportView',
      'transfers/runs.ts#objectPieces',
      'transfers/import.ts#startImport',
      'transfers/import.ts#startUploadedImport',
      'transfers/run-transfer.ts#maintainTransfers',
      'deletion/projects.ts#removeProjectFiles',
    ],
    statement: onTransfers,
    variables: bucket,
  },
  'work-queue': {
    why: 'sending tasks to the work queue',
    reachedBy: [
      'persistence/work-queue.ts#queueTask',
      'persistence/work-queue.ts#queueTasks',
      'documents/store/cascade-records.ts#wakeCascades',
      'documents/effects/pending-mails.ts#queueEffects',
    ],
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
    reachedBy: ['webhooks/events.ts#queueWebhookCheck', 'webhooks/worker.ts#requeueWebhooks'],
    statement: ({ webhookQueue }) => onQueue(webhookQueue, ['SendMessage']),
    variables: webhookQueueUrl,
  },
  'webhook-delivery': {
    why: 'taking from their queue which webhooks are to be looked at',
    statement: ({ webhookQueue }) => onQueue(webhookQueue, consuming),
    variables: webhookQueueUrl,
  },
  'mail-queue': {
    why: 'accepting emails',
    reachedBy: ['mail/queue.ts#enqueueJob', 'mail/queue.ts#enqueueJobs'],
    statement: ({ mailQueue }) => onQueue(mailQueue, ['SendMessage']),
    variables: mailQueueUrl,
  },
  'mail-delivery': {
    why: 'taking emails off their queue',
    statement: ({ mailQueue }) => onQueue(mailQueue, consuming),
    variables: mailQueueUrl,
  },
  'language-model': {
    why: "the endpoint of the schema assistant's language model, and its key",
    reachedBy: ['outbound/language-model.ts#askLanguageModel'],
    statement: ({ languageModelSecret }) => onSecret(languageModelSecret),
    variables: ({ languageModelSecret, languageModel: { aiBaseUrl, aiModel } }) => ({
      AI_SECRET_ARN: languageModelSecret.secretArn,
      ...(aiBaseUrl !== undefined && { AI_BASE_URL: aiBaseUrl }),
      ...(aiModel !== undefined && { AI_MODEL: aiModel }),
    }),
  },
  'language-model-quota': {
    why: 'counting the proposals of the schema assistant',
    reachedBy: ['usage/assistant.ts#countProposal'],
    statement: (stores) => onItems(stores, everyOwner, ['UpdateItem']),
  },
  'mail-provider': {
    why: 'the key of the mail provider that projects share',
    reachedBy: ['outbound/resend.ts#sharedProviderKey'],
    statement: ({ mailProviderSecret }) => onSecret(mailProviderSecret),
    variables: ({ mailProviderSecret }) => ({ MAIL_PROVIDER_SECRET_ARN: mailProviderSecret.secretArn }),
  },
  'mail-quota': {
    why: "the monthly slots of a project's emails, and what their owner and the service have left",
    reachedBy: [
      'mail/quota.ts#reserveQuota',
      'mail/quota.ts#countRows',
      'mail/quota.ts#refundQuota',
      'mail/quota.ts#confirmQuota',
      'mail/quota.ts#mailUsage',
      'mail/effect-mail.ts#queueEffectMail',
    ],
    statement: (stores) =>
      onItems(stores, [everyProject, everyOwner, leadingKeys('service')], ['GetItem', 'UpdateItem']),
  },
  'mail-webhook': {
    why: 'the secret that the events of the mail provider are signed with',
    reachedBy: ['mail/event-signature.ts#sharedSecrets'],
    statement: ({ mailWebhookSecret }) => onSecret(mailWebhookSecret),
    variables: ({ mailWebhookSecret }) => ({ MAIL_WEBHOOK_SECRET_ARN: mailWebhookSecret.secretArn }),
  },
  usage: {
    why: 'what a project has used: its counts of requests, emails and files',
    reachedBy: ['usage/requests.ts#loadStats'],
    statement: (stores) => onItems(stores, [everyProject, everyStats], ['GetItem']),
  },
  rejections: {
    why: "reading the log of a project's rejected requests",
    reachedBy: ['usage/list-rejected.ts#listRefusals'],
    statement: (stores) => onItems(stores, [everyStats], ['GetItem', 'Query']),
  },
  'rejection-writing': {
    why: 'logging the effects that were rejected at their time',
    reachedBy: ['usage/rejected-requests.ts#storeRejected'],
    statement: (stores) => onItems(stores, [everyStats], ['UpdateItem']),
  },
  health: {
    why: 'asking the bucket and the queues whether they are there',
    reachedBy: ['usage/health.ts#checkHealth'],
    statement: onPlaces,
    variables: (stores) => ({
      ...bucket(stores),
      ...mailQueueUrl(stores),
      ...workQueueUrl(stores),
      ...webhookQueueUrl(stores),
    }),
  },
});

export type Permission = keyof typeof grants;

export const permissions = Object.keys(grants) as Permission[];

/** All names that permissions follow from. */
export const reachedByOf = (permission: Permission): readonly string[] => grants[permission].reachedBy ?? [];

const reaches = (reached: ReadonlySet<string>, permission: Permission): boolean =>
  reachedByOf(permission).some((name) => reached.has(name));

/** The permissions of a bundle. `ownSessions`: the realm of sessions that the code does not name itself. */
const neededBy = (reached: ReadonlySet<string>, ownSessions: Permission): Permission[] => {
  const needed = permissions.filter((permission) => reaches(reached, permission));
  const sessions = needed.includes('user-sessions') ? 'user-sessions' : ownSessions;
  return (
    needed
      .map((permission) => (permission === 'sessions' ? sessions : permission))
      .filter((permission, at, all) => all.indexOf(permission) === at)
      // Reading the number of sent emails is part of `usage`.
      .filter((permission) => permission !== 'mail-quota' || !needed.includes('usage'))
  );
};

/** The permissions of a route. Before a change, the developer's session must still exist. */
export const permissionsOfRoute = (
  reached: ReadonlySet<string>,
  route: Pick<Route, 'access' | 'method'>,
): readonly Permission[] => {
  // Only writes look up the session of a user.
  const needed = neededBy(reached, 'sessions').filter((one) => one !== 'strict-sessions' || !isRead(route));
  const checks = route.access === 'developer' && !isRead(route) && !needed.includes('sessions');
  return checks ? [...needed, 'session-check'] : needed;
};

const deliveries = { mail: 'mail-delivery', work: 'work-delivery', webhooks: 'webhook-delivery' } as const;

/** The permissions of a job, which counts no requests. */
export const permissionsOfJob = (reached: ReadonlySet<string>, job: Pick<Job, 'starts'>): readonly Permission[] => {
  const start = queueStartOf(job);
  return [...neededBy(reached, 'developer-sessions'), ...(start ? [deliveries[start.queue]] : [])];
};

/** For all functions behind a gateway: counting requests for limits and statistics. */
export const rateCounting = (stores: Stores): PolicyStatement =>
  onItems(stores, [leadingKeys('rate'), everyStats], ['UpdateItem']);

/** One statement per permission, on exactly the resource that it needs. */
export const statementsFor = (
  permissions: readonly Permission[],
  stores: Stores,
  sessions: Sessions = 'users',
): PolicyStatement[] => permissions.flatMap((permission) => grants[permission].statement(stores, sessions) ?? []);

/** The variables that name the resources. */
export const variablesFor = (permissions: readonly Permission[], stores: Stores): Record<string, string> =>
  Object.assign(
    { TABLE_NAME: stores.table.tableName },
    ...permissions.map((permission) => grants[permission].variables?.(stores)),
  );
