import { AppError } from '../core/errors.ts';

/** Which files users may upload with the publishable key. */
export interface UserUploads {
  readonly users: boolean;
  readonly maxBytes: number;
  /** Media types such as `image/png` or `image/*`. */
  readonly types: readonly string[];
}

/** Omitted settings have defaults. */
export type StoredUploads = { readonly [K in keyof UserUploads]?: UserUploads[K] | undefined };

export const userUploads = ({
  users = false,
  maxBytes = 10_485_760,
  types = ['*/*'],
}: StoredUploads = {}): UserUploads => ({
  users,
  maxBytes,
  types,
});

/** Who may find other users, and the fields that they see. `read`: a rule about the caller. */
export interface Directory {
  readonly read: unknown;
  readonly fields: readonly string[];
}

/** Without parameters, in lower case. */
export const bareType = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

export const allowsType = ({ types }: UserUploads, contentType: string): boolean => {
  const type = bareType(contentType);
  return types.some(
    (one) => one === '*/*' || one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))),
  );
};

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
    `The sign-in method signIn.${way} is off for this project. To turn it on, use PATCH /api/projects/:projectId of the dashboard API.`,
  );
};
