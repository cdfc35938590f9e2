import { signupSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';

/** Refuses a new account where the operator makes them all (`npm run add-developer`): 403 `SIGNUP_DISABLED`. */
export const requireOpenSignup = (): void => {
  if (signupSettings().DEVELOPER_SIGNUP === 'open') return;
  throw new AppError(
    'SIGNUP_DISABLED',
    'Registration is closed here. Ask the operator of this service for an account.',
  );
};
