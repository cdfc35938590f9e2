import { requestEmailToken } from '../../shared/accounts/email-proofs.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['send-code'];

export const handler = usersEndpoint(route).handler(async (_event, { project, input }) => {
  const options = { forNewcomers: project.allowPublicSignup };
  await requestEmailToken(userAccounts(project), 'code', input.body.email, options);
  return respondExactly(route, {
    success: true,
    message: 'If this address can be used to sign in, we have sent it a code.',
  });
});
