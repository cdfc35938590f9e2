import { type Check, failed, ok, warning } from './check.ts';
import { hasShape, secretOf } from './secrets.ts';

const answerMs = 10_000;
const provider = 'https://api.resend.com';

const domainOf = (sender: string): string => /@([^>\s]+)>?$/.exec(sender)?.[1] ?? '';

interface Domains {
  readonly name?: string;
  readonly data?: readonly { readonly name: string; readonly status: string }[];
}

/** Settings that look like mistakes. */
export const settingChecks: readonly Check[] = [
  {
    name: 'rate limits',
    run: async ({ environment: { RATE_LIMIT = '100' }, local }) => {
      if (RATE_LIMIT !== '0') return ok(`${RATE_LIMIT} requests per 15 minutes`);
      return local ? ok('off') : warning('off', 'Set rateLimit; without it, passwords can be guessed.');
    },
  },
  {
    name: 'addresses',
    deployedOnly: true,
    run: async ({ environment }) => {
      const plain = ['PUBLIC_URL', 'DASHBOARD_API_URL', 'DASHBOARD_URL', 'FILES_URL'].filter(
        (name) => !environment[name]?.startsWith('https://'),
      );
      if (plain.length > 0) return failed(`not HTTPS: ${plain.join(', ')}`, 'Set them to HTTPS addresses.');
      return ok('all are HTTPS');
    },
  },
  {
    name: 'egress addresses',
    run: async ({ environment: { VERIFIER_IP_A, VERIFIER_IP_B } }) =>
      VERIFIER_IP_A && VERIFIER_IP_B
        ? ok(`${VERIFIER_IP_A}, ${VERIFIER_IP_B}`)
        : warning(
            'not fixed, so customers cannot allow them in the firewall of their own database',
            'Deploy with -c egress=nat if projects bring their own databases.',
          ),
  },
  {
    name: 'mail provider',
    run: async (target) => {
      const key = (await secretOf(target, 'MAIL_PROVIDER_KEY', 'MAIL_PROVIDER_SECRET_ARN')).trim();
      if (!hasShape('mailProviderSecret')(key))
        return warning('not checked, because there is no key', 'Put its API key into the mail provider secret.');
      const { MAIL_PROVIDER_URL = provider, EMAIL_FROM } = target.environment;
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${MAIL_PROVIDER_URL}/domains`, { headers, signal: AbortSignal.timeout(answerMs) });
      const { name, data = [] } = (await response.json()) as Domains;
      if (name === 'restricted_api_key') return ok('accepts the key, which may only send');
      if (!response.ok)
        return failed(
          `returned ${response.status} for the key`,
          'Create a key at the provider and put it into the secret.',
        );
      if (target.local) return ok('accepts the key');
      if (!EMAIL_FROM) return warning('accepts the key, but there is no sender', 'Deploy with -c emailFrom=<sender>.');
      const domain = data.find((known) => known.name === domainOf(EMAIL_FROM));
      return domain?.status === 'verified'
        ? ok(`accepts the key and email from ${domain.name}`)
        : failed(`has not verified ${domainOf(EMAIL_FROM)}, the domain of emailFrom`, 'Verify it at the provider.');
    },
  },
  {
    name: 'developer registration',
    deployedOnly: true,
    run: async ({ environment: { DEVELOPER_SIGNUP = 'open' } }) =>
      DEVELOPER_SIGNUP === 'open'
        ? warning('open to everyone', 'To close it, deploy with -c developerSignup=closed.')
        : ok('closed'),
  },
];
