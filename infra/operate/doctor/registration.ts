import { type Check, ok, warning } from './check.ts';

/** Who may open a developer account, and so use what the operator pays for. */
export const registrationCheck: Check = {
  name: 'registration of developers',
  deployedOnly: true,
  run: async ({ environment: { DEVELOPER_SIGNUP = 'open' } }) =>
    DEVELOPER_SIGNUP === 'open'
      ? warning('is open to everybody', 'Where it should not be: deploy with -c developerSignup=closed.')
      : ok('is closed'),
};
