/** Files whose mutants belong together, and the integration tests that cover them. All unit tests count for each area. */
export interface Area {
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

/** Patterns below the root of the repository. */
export const areas: Readonly<Record<string, Area>> = {
  access: {
    files: [
      'shared/documents/access/!(try-rules).ts',
      'shared/http/middleware/{api-key,collection,developer,user-token}.ts',
      'shared/http/{dashboard,project,user,webhook}-endpoint.ts',
      'shared/members/{members,invitations}.ts',
      'shared/projects/{allowed-origins,find-project,keys}.ts',
      'shared/collections/find-project-by-key.ts',
      'shared/accounts/{step-up,tokens}.ts',
      'shared/accounts/developers/{scopes,tokens}.ts',
      'shared/files/signed-links.ts',
    ],
    tests: [
      'test/contract/{access,keys,tenants,private-collections}.test.ts',
      'test/functions/data/{rules,rules-attacks,rules-oracle,rule-joins,row-security.bundled,required-factor}.test.ts',
      'test/functions/data/{field-rights-attacks,field-reads,field-writes,strict-sessions}.test.ts',
      'test/functions/dashboard/{members.bundled,view-as,tokens.bundled}.test.ts',
      'test/functions/user-auth/access.test.ts',
      'test/functions/storage/document-files.test.ts',
    ],
  },
  'single-use': {
    files: [
      'shared/persistence/{single-use,idempotency,lease,item-keys}.ts',
      'shared/accounts/{single-use-secrets,email-tokens,email-proofs,refresh-sessions,sessions,lockout,second-factor}.ts',
      'shared/accounts/{change-credentials,repeated-sign-up}.ts',
      'shared/accounts/passkeys/*.ts',
      'shared/accounts/social/*.ts',
      'shared/accounts/users/{accept-invitation,invitations}.ts',
      'shared/http/middleware/idempotency.ts',
      'shared/files/{confirm-upload,upload-states}.ts',
      'shared/realtime/channels.ts',
    ],
    tests: [
      'test/contract/{email-proofs,sign-in-attacks}.test.ts',
      'test/functions/user-auth/{single-use,refresh.bundled,email-tokens.bundled,email-token-items,lost-answers}.test.ts',
      'test/functions/user-auth/{lockout-*,second-factor,passkeys,social-state.bundled,social-link,invitations}.test.ts',
      'test/functions/dashboard/{code,second-factor,sessions,tokens-and-resets.bundled}.test.ts',
      'test/functions/data/idempotency.test.ts',
      'test/functions/storage/{races.bundled,repeated-uploads}.test.ts',
      'test/functions/realtime/tickets.test.ts',
      'test/functions/jobs/leases.test.ts',
    ],
  },
  quota: {
    files: [
      'shared/persistence/counters.ts',
      'shared/mail/{quota,limits}.ts',
      'shared/projects/{plans,database-quota,create-project}.ts',
      'shared/usage/{plan-usage,tally}.ts',
      'shared/rate-limit/rate-limit.ts',
      'shared/http/middleware/rate-limit.ts',
      'shared/collections/create-collection.ts',
      'shared/files/request-upload.ts',
    ],
    tests: [
      'test/functions/mail/{quota,service-day,shared-key}.test.ts',
      'test/functions/data/full-database.test.ts',
      'test/functions/storage/{user-quota,sizes,variant-budget,parts.slow}.test.ts',
      'test/functions/user-auth/{account-mail-limit,anonymous-limit,limits.bundled}.test.ts',
      'test/functions/dashboard/{usage,reservations}.test.ts',
      'test/functions/table/*.test.ts',
      'test/functions/rate-limit.test.ts',
    ],
  },
  shared: { files: ['shared/**/*.ts'], tests: [] },
};
