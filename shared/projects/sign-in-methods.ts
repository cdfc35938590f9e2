import { AppError } from '../core/errors.ts';
import type { ProjectView } from './project-view.ts';
import { type ProjectChanges, projectSites } from './settings.ts';

export interface SignInMethods {
  readonly password: boolean;
  readonly emailCode: boolean;
  readonly anonymous: boolean;
  readonly passkey: boolean;
  /** `optional`: users can set one up. */
  readonly secondFactor: 'off' | 'optional';
}

export type SignInMethod = keyof SignInMethods;

/** Omitted methods have defaults. */
export type StoredSignInMethods = { readonly [W in SignInMethod]?: SignInMethods[W] | undefined };

export const signInMethods = ({
  password = true,
  emailCode = false,
  anonymous = false,
  passkey = false,
  secondFactor = 'off',
}: StoredSignInMethods = {}): SignInMethods => ({ password, emailCode, anonymous, passkey, secondFactor });

const isOff = (ways: SignInMethods, way: SignInMethod): boolean => ways[way] === false || ways[way] === 'off';

/** Throws 403 `SIGN_IN_DISABLED`. */
export const requireSignInMethod = ({ signIn }: { readonly signIn: SignInMethods }, way: SignInMethod): void => {
  if (!isOff(signIn, way)) return;
  throw new AppError(
    'SIGN_IN_DISABLED',
    `Signing in by signIn.${way} is off for this project. Turn it on: PATCH /api/projects/:projectId of the dashboard API.`,
  );
};

const concerned = ['authEnabled', 'siteUrl', 'allowedDomains'] as const;

const withoutSite =
  'siteUrl is not set: mails of user accounts carry a code and no link, and social sign-in is refused. Set siteUrl.';

const withoutPages =
  'siteUrl is not set: no page of another origin gets a refresh cookie, mails of user accounts carry a code and no link, and social sign-in is refused. Set siteUrl; an exact origin in allowedDomains does for the cookie.';

/** Explains what user accounts still lack after these changes; `undefined` if nothing. */
export const accountHints = (
  changes: Pick<ProjectChanges, (typeof concerned)[number]>,
  project: Pick<ProjectView, (typeof concerned)[number]>,
): readonly string[] | undefined => {
  const isConcerned = concerned.some((name) => changes[name] !== undefined);
  if (!isConcerned || !project.authEnabled || project.siteUrl !== null) return undefined;
  return [projectSites(project).length > 0 ? withoutSite : withoutPages];
};
