import { roleFor } from '../middleware/developer.ts';
import { type Access, type Route, scopesOf } from '../route.ts';

type Requirement = Readonly<Record<string, readonly string[]>>;

const apiKey = (description: string) => ({ type: 'apiKey', in: 'header', name: 'x-api-key', description }) as const;

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description }) as const;

/** How callers of the public API say who they are. */
export const projectSchemes = {
  publishableKey: apiKey('`pk_live_…`: for browsers and apps; good from the allowed domains of the project.'),
  secretKey: apiKey('`sk_live_…`: for servers only.'),
  userToken: { ...bearer('Access token of an end user, as signing in answers it.'), bearerFormat: 'JWT' },
} as const;

/** How callers of the dashboard API do. */
export const dashboardSchemes = {
  dashboardToken: { ...bearer('Access token of a developer, as signing in answers it.'), bearerFormat: 'JWT' },
  personalAccessToken: bearer('`bslt_pat_…`: a personal access token with every scope that is named.'),
} as const;

const publishable = { publishableKey: [] };
const secret = { secretKey: [] };
const asUser = { publishableKey: [], userToken: [] };

const ofProjects: Readonly<Record<Exclude<Access, 'developer'>, readonly Requirement[]>> = {
  public: [],
  publishableKey: [publishable],
  secretKey: [secret],
  user: [asUser],
  anyKey: [secret, publishable],
};

const isOfDocuments = ({ path }: Route): boolean => path.startsWith('/api/data/');

/** Who may call a row; each entry is one way. */
export const securityOf = (route: Route): readonly Requirement[] => {
  if (route.access === 'developer') {
    const scopes = scopesOf(route);
    return [{ dashboardToken: [] }, ...(scopes.length > 0 ? [{ personalAccessToken: scopes }] : [])];
  }
  if (route.session) return route.access === 'public' ? [{ dashboardToken: [] }, {}] : [asUser, publishable];
  const ways = ofProjects[route.access];
  // Row security asks who the caller is, where a collection has it.
  return route.access === 'anyKey' && isOfDocuments(route) ? [...ways, asUser] : ways;
};

/** What a developer has to be in the project of a row. */
export const roleNote = (route: Route): string | undefined =>
  route.path.startsWith('/api/projects/{projectId}') ? `Needs the role ${roleFor(route)} in the project.` : undefined;
