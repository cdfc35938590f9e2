import { AppError } from '../core/errors.ts';

/** With what users of a project may sign in; what is left out of its record has the default. */
export interface SignInWays {
  readonly password: boolean;
  readonly emailCode: boolean;
  readonly anonymous: boolean;
  readonly passkey: boolean;
  /** `optional`: whoever wants one may set it up. */
  readonly secondFactor: 'off' | 'optional';
}

export type SignInWay = keyof SignInWays;

/** As a project's record keeps them. */
export type StoredWays = { readonly [W in SignInWay]?: SignInWays[W] | undefined };

export const signInWays = ({
  password = true,
  emailCode = false,
  anonymous = false,
  passkey = false,
  secondFactor = 'off',
}: StoredWays = {}): SignInWays => ({ password, emailCode, anonymous, passkey, secondFactor });

const isOff = (ways: SignInWays, way: SignInWay): boolean => ways[way] === false || ways[way] === 'off';

/** Refuses a way to sign in that the project has turned off: 403 `SIGN_IN_DISABLED` (contract 3, "Ways to sign in"). */
export const requireWay = ({ signIn }: { readonly signIn: SignInWays }, way: SignInWay): void => {
  if (!isOff(signIn, way)) return;
  throw new AppError(
    'SIGN_IN_DISABLED',
    `Signing in by signIn.${way} is off for this project. Turn it on: PATCH /api/projects/:projectId of the dashboard API.`,
  );
};
