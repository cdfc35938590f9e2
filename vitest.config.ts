import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/clients/longest-first.ts';

/** What takes long or much of the processor: `npm run test:long` runs it, and `npm test` does not. */
const thorough = [
  'test/client/live-offline.test.ts',
  'test/client/live.test.ts',
  'test/client/passkeys.test.ts',
  'test/client/upload-in-parts.test.ts',
  'test/console/account-acts.test.ts',
  'test/console/collection-acts.test.ts',
  'test/console/document-lists.test.ts',
  'test/console/every-row.test.ts',
  'test/console/every-screen.test.ts',
  'test/console/failing-service.test.ts',
  'test/console/hostile-values.test.ts',
  'test/console/keyboard.test.ts',
  'test/console/links.test.ts',
  'test/console/mail-acts.test.ts',
  'test/console/mail.test.ts',
  'test/console/passkeys.test.ts',
  'test/console/references.test.ts',
  'test/console/renewal.test.ts',
  'test/console/second-factor.test.ts',
  'test/console/settings-acts.test.ts',
  'test/console/settings.test.ts',
  'test/console/transfer-acts.test.ts',
  'test/console/unusual-contents.test.ts',
  'test/console/usage.test.ts',
  'test/console/user-acts.test.ts',
  'test/console/webhooks.test.ts',
  'test/contract/bytes.test.ts',
  'test/contract/database-address.test.ts',
  'test/contract/fuzz.test.ts',
  'test/contract/members.test.ts',
  'test/contract/origins.test.ts',
  'test/contract/secrets.test.ts',
  'test/contract/strings.test.ts',
  'test/functions/dashboard/inviters.test.ts',
  'test/functions/dashboard/storage-faults.test.ts',
  'test/functions/dashboard/transfers/exports.test.ts',
  'test/functions/data/hidden-values.test.ts',
  'test/functions/data/idempotency-crashes.test.ts',
  'test/functions/data/long-aggregations.test.ts',
  'test/functions/data/own-database-changes.test.ts',
  'test/functions/data/own-database.test.ts',
  'test/functions/data/where.test.ts',
  'test/functions/jobs/every-job.test.ts',
  'test/functions/jobs/own-database-tasks.test.ts',
  'test/functions/jobs/purge-trash.test.ts',
  'test/functions/jobs/turns.test.ts',
  'test/functions/jobs/verify-database.test.ts',
  'test/functions/mail/broadcasts.test.ts',
  'test/functions/rate-blocks.test.ts',
  'test/functions/storage/faults.test.ts',
  'test/functions/storage/links.test.ts',
  'test/functions/storage/size-states.test.ts',
  'test/functions/storage/sweep-limits.test.ts',
  'test/functions/storage/sweep.test.ts',
  'test/functions/storage/user-uploads.test.ts',
  'test/functions/storage/parts.test.ts',
  'test/functions/user-auth/enumeration.test.ts',
  'test/functions/user-auth/form-post.test.ts',
  'test/functions/user-auth/linking-table.test.ts',
  'test/functions/user-auth/own-passkeys.test.ts',
  'test/functions/user-auth/passkey-steps.test.ts',
  'test/functions/webhooks/deliveries.test.ts',
  'test/functions/webhooks/runs.test.ts',
  'test/infra/settings-in-place.test.ts',
  'test/local/command-arguments.test.ts',
  'test/local/doctor.test.ts',
  'test/local/durability.test.ts',
  'test/local/example.test.ts',
  'test/local/faults.test.ts',
  'test/local/health.test.ts',
  'test/local/interrupted-removal.test.ts',
  'test/local/mail.test.ts',
  'test/local/mongo.test.ts',
];

/**
 * What two processes could see differently: lists and cursors, races, accounts, files and mail. `npm run test:bundled`
 * runs it on the bundles, in a few minutes.
 */
const telling = [
  'test/contract/ended-sessions.test.ts',
  'test/functions/dashboard/accounts.test.ts',
  'test/functions/dashboard/auth.test.ts',
  'test/functions/dashboard/collections.test.ts',
  'test/functions/dashboard/documents.test.ts',
  'test/functions/dashboard/edit-collection.test.ts',
  'test/functions/dashboard/indexes.test.ts',
  'test/functions/dashboard/mail/templates.test.ts',
  'test/functions/dashboard/members.test.ts',
  'test/functions/dashboard/projects.test.ts',
  'test/functions/dashboard/signing-keys.test.ts',
  'test/functions/dashboard/storage.test.ts',
  'test/functions/dashboard/tokens-and-resets.test.ts',
  'test/functions/dashboard/tokens.test.ts',
  'test/functions/dashboard/transfers.test.ts',
  'test/functions/dashboard/transfers/cancel.test.ts',
  'test/functions/dashboard/transfers/imports.test.ts',
  'test/functions/dashboard/transfers/limits.test.ts',
  'test/functions/dashboard/trash.test.ts',
  'test/functions/dashboard/users.test.ts',
  'test/functions/data/answer-size.test.ts',
  'test/functions/data/create-document.test.ts',
  'test/functions/data/get-document.test.ts',
  'test/functions/data/create-documents.test.ts',
  'test/functions/data/list-documents.test.ts',
  'test/functions/data/list-filters.test.ts',
  'test/functions/data/newest-first.test.ts',
  'test/functions/data/others-trash.test.ts',
  'test/functions/data/populate.test.ts',
  'test/functions/data/row-security.test.ts',
  'test/functions/data/trash.test.ts',
  'test/functions/data/update-document.test.ts',
  'test/functions/mail/delivery.test.ts',
  'test/functions/mail/gating.test.ts',
  'test/functions/mail/idempotency.test.ts',
  'test/functions/mail/logs.test.ts',
  'test/functions/mail/project-webhook.test.ts',
  'test/functions/mail/send-batch.test.ts',
  'test/functions/mail/send-mail.test.ts',
  'test/functions/mail/webhook.test.ts',
  'test/functions/storage/races.test.ts',
  'test/functions/storage/upload.test.ts',
  'test/functions/user-auth/access.test.ts',
  'test/functions/user-auth/email-tokens.test.ts',
  'test/functions/user-auth/exchange-code.test.ts',
  'test/functions/user-auth/limits.test.ts',
  'test/functions/user-auth/sign-in.test.ts',
  'test/functions/user-auth/password.test.ts',
  'test/functions/user-auth/profile.test.ts',
  'test/functions/user-auth/refresh.test.ts',
  'test/functions/user-auth/sign-up.test.ts',
  'test/functions/user-auth/social-linking.test.ts',
  'test/functions/user-auth/social-new-account.test.ts',
  'test/functions/user-auth/social-state.test.ts',
  'test/functions/user-auth/social.test.ts',
];

const everywhere = ['test/support/clients/end-with-main.ts'];

const onStack = {
  include: [
    'test/functions/**/*.test.ts',
    'test/contract/**/*.test.ts',
    'test/local/**/*.test.ts',
    'test/console/**/*.test.ts',
    'test/client/**/*.test.ts',
  ],
  setupFiles: [...everywhere, 'test/support/clients/environment.ts'],
};

const onBundles = {
  ...onStack,
  globalSetup: ['test/support/clients/bundles.ts', 'test/support/clients/stack.ts'],
  hookTimeout: 600_000,
};

/** Files of one worker, which loads what is installed once; end-of-file.ts keeps them apart. */
const shared = {
  isolate: false,
  sequence: { setupFiles: 'list' as const },
  setupFiles: [...everywhere, 'test/support/clients/end-of-file.ts'],
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // A busy machine takes its time; nothing is asserted to be quick, and no test has a second try.
    hookTimeout: 300_000,
    testTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    projects: [
      { test: { ...shared, name: 'unit', include: ['test/shared/**/*.test.ts'] } },
      {
        test: {
          ...onStack,
          ...shared,
          name: 'integration',
          exclude: thorough,
          setupFiles: [...shared.setupFiles, ...onStack.setupFiles],
          globalSetup: ['test/support/clients/stack.ts'],
          env: { CDK_DISABLE_STACK_TRACE: '1' },
        },
      },
      // The same with every function in processes of its own, each of which has to start.
      { test: { ...onBundles, name: 'bundled', include: telling } },
      { test: { ...onBundles, name: 'bundled-rest', exclude: telling } },
      // What takes minutes by its nature; `npm run test:long` runs it.
      {
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts', ...thorough],
          globalSetup: ['test/support/clients/stack.ts'],
          setupFiles: onStack.setupFiles,
          testTimeout: 900_000,
          env: { CDK_DISABLE_STACK_TRACE: '1' },
        },
      },
      // A deployment to an emulator of AWS; `npm run test:deploy` runs it.
      {
        test: {
          name: 'deploy',
          include: ['test/rehearsal/**/*.test.ts'],
          setupFiles: everywhere,
          testTimeout: 900_000,
          hookTimeout: 1_800_000,
          env: { CDK_DISABLE_STACK_TRACE: '1' },
        },
      },
      // Loading the CDK takes longer than these tests, so their files share it; where its constructs were made is not
      // looked up.
      {
        test: {
          name: 'infra',
          include: ['test/infra/**/*.test.ts'],
          exclude: thorough,
          isolate: false,
          setupFiles: everywhere,
          env: { CDK_DISABLE_STACK_TRACE: '1' },
        },
      },
    ],
  },
});
