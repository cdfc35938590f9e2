import type { Use } from '../../shared/http/uses.ts';

/**
 * Functions of `shared/` that cannot do their work without a use, as `file#name`: what is bundled with one of them
 * needs it. Written from what each of them calls, and not from the rows.
 */
export const evidence: Readonly<Partial<Record<Use, readonly string[]>>> = {
  mongodb: ['clients/mongo.ts#onControl', 'clients/mongo.ts#onManaged', 'clients/mongo.ts#onProject'],
  nudges: ['documents/changes/nudge.ts#nudge'],
  repeats: ['work/once/claim.ts#claim'],
  answers: [
    'clients/objects.ts#putObject',
    'clients/objects.ts#getObject',
    'projects/removal/remove-deleted-projects.ts#removeProjectFiles',
  ],
  encryption: [
    // Own databases have sealed URIs.
    'clients/mongo.ts#onProject',
    'accounts/access-tokens.ts#privateKeyOf',
    'accounts/access-tokens.ts#newSigningKey',
    'accounts/users/social-site.ts#clientCredentials',
    'accounts/session-jwt.ts#verifyDashboardToken',
    'accounts/session-jwt.ts#issueDashboardToken',
    'accounts/email-tokens/email-token.ts#hashCode',
    'projects/own-database/connect-database.ts#connectDatabase',
    'projects/own-database/verify-database.ts#verifyDatabase',
    'mail/mail-content.ts#sealContent',
    'accounts/users/last-view.ts#sealLastView',
    'webhooks/signing.ts#sealSecret',
    'webhooks/signing.ts#signingSecrets',
    'mail/mail-content.ts#openContent',
    'mail/provider-key.ts#ownProviderKey',
    'mail/events/signing-secrets.ts#projectSecrets',
    'files/storage-keys.ts#openStorageKeys',
    'files/links/link-key.ts#linkKeyOf',
    'files/storage-keys.ts#sealStorageKeys',
    'insight/health/check-health.ts#checkHealth',
    'realtime/ticket.ts#issueTicket',
    'realtime/ticket.ts#channelsIn',
  ],
  'dashboard-github': ['accounts/developers/social-site.ts#clientSecret'],
  'email-tokens': [
    'accounts/email-tokens/token-items.ts#issueTokens',
    'accounts/email-tokens/token-items.ts#consumeToken',
    'accounts/email-tokens/token-items.ts#consumeCode',
    'projects/members/invitation-limits.ts#countInvitation',
    'projects/members/invitation-limits.ts#countServiceMail',
    'mail/outbox/account-mail-limit.ts#countAccountMail',
  ],
  lockouts: ['accounts/lockout.ts#countFailure', 'accounts/lockout.ts#clearFailures'],
  purge: ['projects/project-items.ts#removeProjectItems', 'projects/project-items.ts#removeUserItems'],
  'file-links': ['files/links/link-key.ts#knownLinkKeys'],
  'link-keys': ['files/links/rotate-link-keys.ts#rotateLinkKeys'],
  'key-group': ['clients/key-group.ts#setGroupKeys'],
  verifiers: ['clients/lambda.ts#invokeFunction'],
  files: [
    'files/bucket-of.ts#bucketOf',
    'files/delete-files.ts#deleteFiles',
    'files/move-file.ts#changeVisibility',
    'files/sweep-uploads.ts#sweepUploads',
    'projects/removal/remove-deleted-projects.ts#removeProjectFiles',
  ],
  uploads: [
    'files/confirm-upload.ts#confirmUpload',
    'files/delete-files.ts#deleteFiles',
    'files/list-files.ts#findFile',
    'files/list-files.ts#listFiles',
    'files/request-upload.ts#requestUpload',
    'files/move-file.ts#changeVisibility',
    'files/links/sign-links.ts#signLinks',
    'files/sweep-uploads.ts#sweepUploads',
  ],
  transfers: [
    'transfers/transfer-file.ts#abortUpload',
    'transfers/transfer-file.ts#beginUpload',
    'transfers/transfer-file.ts#downloadLink',
    'transfers/transfer-file.ts#objectPieces',
    'transfers/import/start-import.ts#startImport',
    'transfers/import/start-import.ts#startUploadedImport',
    'transfers/maintain-transfers.ts#maintainTransfers',
    'projects/removal/remove-deleted-projects.ts#removeProjectFiles',
  ],
  'work-queue': ['work/work-queue.ts#queueTask', 'work/work-queue.ts#queueTasks'],
  'webhook-queue': ['events/nudge.ts#lookAt', 'webhooks/webhook-messages.ts#requeueWebhooks'],
  'mail-queue': ['mail/outbox/mail-queue.ts#enqueueJob', 'mail/outbox/mail-queue.ts#enqueueJobs'],
  'mail-provider': ['clients/resend.ts#sharedProviderKey'],
  'mail-quota': [
    'mail/outbox/mail-quota.ts#takeSlots',
    'mail/outbox/mail-quota.ts#countRows',
    'mail/outbox/mail-quota.ts#giveSlotsBack',
    'mail/outbox/mail-quota.ts#keepSlots',
    'mail/outbox/mail-quota.ts#mailUsage',
  ],
  'mail-webhook': ['mail/events/signing-secrets.ts#sharedSecrets'],
  'language-model': ['clients/chat-completions.ts#askLanguageModel'],
  'language-model-quota': ['insight/assistant/monthly-cap.ts#countProposal'],
  usage: ['insight/usage/stats-items.ts#loadStats'],
  health: ['insight/health/check-health.ts#checkHealth'],
};

/** Functions that keep sessions, their states or their versions in the table. */
export const sessionEvidence: readonly string[] = [
  'accounts/refresh-sessions.ts#startSession',
  'accounts/refresh-sessions.ts#rotate',
  'accounts/revoke-sessions.ts#endSession',
  'accounts/revoke-sessions.ts#revokeAllSessions',
  'accounts/revoke-sessions.ts#signOut',
  'accounts/revoke-sessions.ts#revokeSession',
  'accounts/sessions.ts#listSessions',
  'accounts/social/state.ts#startState',
  'accounts/social/state.ts#consumeState',
  'accounts/social/exchange-code.ts#issueExchangeCode',
  'accounts/social/exchange-code.ts#exchangeCode',
  'accounts/credentials.ts#raiseCredentialVersion',
  'accounts/credentials.ts#requireCredentialVersion',
  'accounts/users/anonymous.ts#upgradeAnonymous',
];

/** Where the dashboard's API deals with those of users, for a developer, and a job does. */
export const userSessionEvidence: readonly string[] = [
  'accounts/users/managed-users.ts#deleteUser',
  'accounts/users/update-user.ts#updateUser',
  'accounts/users/managed-users.ts#listUserSessions',
  'accounts/users/managed-users.ts#revokeUserSession',
  'accounts/users/managed-users.ts#revokeUserSessions',
  'accounts/users/remove-idle-users.ts#removeIdleUsers',
];

/** Modules that ask a store for those that are named above, or as every function may: of no use by themselves. */
export const helpers: readonly string[] = [
  'projects/quota/rate-limit.ts',
  'projects/sealed.ts',
  'files/due-uploads.ts',
  'files/bucket.ts',
  'files/list-files.ts',
  'files/upload-states.ts',
  'table/transact.ts',
  'insight/usage/store-shapes.ts',
  'insight/usage/tally.ts',
  'work/turns.ts',
];
