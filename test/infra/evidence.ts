import type { Use } from '../../shared/http/route.ts';

/**
 * Functions of `shared/` that cannot do their work without a use, as `file#name`: what is bundled with one of them
 * needs it. Written from what each of them calls, and not from the rows.
 */
export const evidence: Readonly<Partial<Record<Use, readonly string[]>>> = {
  mongodb: ['clients/mongo.ts#onControl', 'clients/mongo.ts#onManaged', 'clients/mongo.ts#onProject'],
  encryption: [
    // Own databases have sealed URIs.
    'clients/mongo.ts#onProject',
    'auth/access-tokens.ts#privateKeyOf',
    'auth/signing-keys.ts#newSigningKey',
    'auth/social/client-credentials.ts#clientCredentials',
    'auth/dashboard-tokens.ts#verifyDashboardToken',
    'auth/dashboard-tokens.ts#issueDashboardToken',
    'auth/email-tokens/email-token.ts#hashCode',
    'byod/connect-database.ts#connectDatabase',
    'byod/verify-database.ts#verifyDatabase',
    'mail/mail-content.ts#sealContent',
    'mail/mail-content.ts#openContent',
    'mail/provider-key.ts#ownProviderKey',
    'mail/webhook/signing-secrets.ts#projectSecrets',
    'storage/storage-keys.ts#openStorageKeys',
    'storage/storage-keys.ts#sealStorageKeys',
    'health/check-health.ts#checkHealth',
  ],
  'dashboard-github': ['developers/github/github-app.ts#withSecret'],
  'email-tokens': [
    'auth/email-tokens/issue-tokens.ts#issueTokens',
    'auth/email-tokens/consume-tokens.ts#consumeToken',
    'auth/email-tokens/consume-tokens.ts#consumeCode',
    'developers/members/invitation-limits.ts#countInvitation',
    'developers/members/service-mail-limit.ts#countServiceMail',
    'mail/account-mail-limit.ts#countAccountMail',
  ],
  lockouts: ['auth/lockout.ts#countAttempt', 'auth/lockout.ts#forgiveAttempt'],
  purge: ['projects/project-items.ts#removeProjectItems', 'projects/project-items.ts#removeUserItems'],
  verifiers: ['clients/lambda.ts#invokeFunction'],
  files: [
    'storage/bucket-of.ts#bucketOf',
    'storage/delete-files.ts#deleteFiles',
    'storage/sweep-uploads.ts#sweepUploads',
    'control/remove-project-files.ts#removeProjectFiles',
  ],
  uploads: [
    'storage/confirm-upload.ts#confirmUpload',
    'storage/delete-files.ts#deleteFiles',
    'storage/find-file.ts#findFile',
    'storage/list-files.ts#listFiles',
    'storage/request-upload.ts#requestUpload',
    'storage/sweep-uploads.ts#sweepUploads',
  ],
  transfers: [
    'transfers/transfer-file.ts#abortUpload',
    'transfers/transfer-file.ts#beginUpload',
    'transfers/transfer-file.ts#downloadLink',
    'transfers/transfer-file.ts#readObject',
    'transfers/start-import.ts#startImport',
    'transfers/start-import.ts#startUploaded',
    'transfers/remove-transfers.ts#removeTransfers',
    'control/remove-project-files.ts#removeProjectFiles',
  ],
  'work-queue': ['work/work-queue.ts#queueTask', 'work/work-queue.ts#queueTasks'],
  'mail-queue': ['mail/mail-queue.ts#enqueueJob', 'mail/mail-queue.ts#enqueueJobs'],
  'mail-provider': ['clients/resend.ts#sharedProviderKey'],
  'mail-quota': [
    'mail/mail-quota.ts#takeSlots',
    'mail/mail-quota.ts#countRows',
    'mail/mail-quota.ts#giveSlotsBack',
    'mail/mail-quota.ts#keepSlots',
    'mail/mail-quota.ts#mailUsage',
    'mail/idempotency/claim.ts#claim',
  ],
  'mail-webhook': ['mail/webhook/signing-secrets.ts#sharedSecrets'],
  'language-model': ['clients/chat-completions.ts#askLanguageModel'],
  'language-model-quota': ['assistant/monthly-cap.ts#countProposal'],
  usage: ['usage/read-stats.ts#readStats'],
  health: ['health/check-health.ts#checkHealth'],
};

/** Functions that keep sessions, their states or their versions in the table. */
export const sessionEvidence: readonly string[] = [
  'auth/refresh-sessions.ts#startSession',
  'auth/refresh-sessions.ts#rotate',
  'auth/revoke-sessions.ts#revokeSession',
  'auth/revoke-sessions.ts#revokeAllSessions',
  'auth/revoke-sessions.ts#revokeByToken',
  'auth/revoke-own-session.ts#revokeOwnSession',
  'auth/list-sessions.ts#listSessions',
  'auth/social/state.ts#startState',
  'auth/social/state.ts#consumeState',
  'auth/social/exchange-code.ts#issueExchangeCode',
  'auth/social/exchange-code.ts#redeemExchangeCode',
  'auth/users/credential-version.ts#raiseCredentialVersion',
  'auth/users/credential-version.ts#requireCredentialVersion',
];

/** Where the dashboard's API deals with those of users: what it does for a developer with a user's account. */
export const userSessionEvidence: readonly string[] = [
  'auth/users/managed/delete-user.ts#deleteUser',
  'auth/users/managed/update-user.ts#updateUser',
  'auth/users/managed/user-sessions.ts#listUserSessions',
  'auth/users/managed/user-sessions.ts#revokeUserSession',
  'auth/users/managed/user-sessions.ts#revokeUserSessions',
];

/** Modules that ask a store for those that are named above, or as every function may: of no use by themselves. */
export const helpers: readonly string[] = [
  'auth/require-session.ts',
  'auth/single-use.ts',
  'quota/rate-limit.ts',
  'secrets/master-key.ts',
  'storage/due-queue.ts',
  'storage/managed-bucket.ts',
  'storage/storage-usage.ts',
  'storage/upload-states.ts',
  'table/counter.ts',
  'usage/store-shapes.ts',
  'usage/tally.ts',
];
