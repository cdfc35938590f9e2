import { type Access, isRead, type Route } from './route.ts';

/**
 * What a function needs besides the rate counts that all share; the deployment grants exactly this. What each is for,
 * and what it becomes, says the record of `infra/stacks/grants.ts`.
 */
export type Permission =
  | 'mongodb'
  | 'nudges'
  | 'repeats'
  | 'answers'
  | 'encryption'
  | 'sessions'
  | 'user-sessions'
  | 'developer-sessions'
  | 'session-check'
  | 'dashboard-github'
  | 'email-tokens'
  | 'lockouts'
  | 'purge'
  | 'files'
  | 'uploads'
  | 'file-links'
  | 'link-keys'
  | 'key-group'
  | 'verifiers'
  | 'transfers'
  | 'work-queue'
  | 'work-delivery'
  | 'webhook-queue'
  | 'webhook-delivery'
  | 'mail-queue'
  | 'mail-delivery'
  | 'language-model'
  | 'language-model-quota'
  | 'mail-provider'
  | 'mail-quota'
  | 'mail-webhook'
  | 'usage'
  | 'health';

/** A row as far as it says what it needs. */
type UsingRoute = Pick<Route, 'access' | 'method' | 'uses' | 'repeats'>;

/** What needs them whatever the row does: a key is looked up in the database, and of a developer the token verified. */
const ofAccess: Readonly<Record<Access, readonly Permission[]>> = {
  public: [],
  anyKey: ['mongodb'],
  publishableKey: ['mongodb'],
  secretKey: ['mongodb'],
  user: ['mongodb'],
  developer: ['mongodb', 'encryption'],
};

/** Before a change the session of a developer must still stand; what may keep sessions may ask for one. */
const ofChange = ({ access, method, uses = [] }: UsingRoute): readonly Permission[] =>
  access === 'developer' && !isRead({ method }) && !uses.includes('sessions') ? ['session-check'] : [];

/** Everything that the function of a row may use: what the row's other fields imply, and what it names besides. */
export const permissionsOf = (route: UsingRoute): readonly Permission[] => [
  ...new Set([
    ...ofAccess[route.access],
    ...(route.uses ?? []),
    ...ofChange(route),
    ...(route.repeats === undefined ? [] : (['repeats', 'answers'] as const)),
  ]),
];
