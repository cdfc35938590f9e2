import { type Check, failed, ok, warning } from './check.ts';
import { hasShape, secretOf } from './secrets.ts';

const answerMs = 10_000;
const provider = 'https://api.resend.com';

const domainOf = (sender: string): string => /@([^>\s]+)>?$/.exec(sender)?.[1] ?? '';

interface Domains {
  readonly name?: string;
  readonly data?: readonly { readonly name: string; readonly status: string }[];
}

/** What was chosen, as far as it can be seen to be a mistake. */
export const settingChecks: readonly Check[] = [
  {
    name: 'rate limits',
    run: async ({ environment: { RATE_LIMIT = '100' }, local }) => {
      if (RATE_LIMIT !== '0') return ok(`${RATE_LIMIT} requests in 15 minutes`);
      return local ? ok('are off') : warning('are off', 'Set rateLimit; without it passwords can be guessed.');
    },
  },
  {
    name: 'addresses',
    deployedOnly: true,
    run: async ({ environment }) => {
      const plain = ['PUBLIC_URL', 'DASHBOARD_API_URL', 'DASHBOARD_URL', 'FILES_URL'].filter(
        (name) => !environment[name]?.startsWith('https://'),
      );
      if (plain.length > 0) return failed(`are not https: ${plain.join(', ')}`, 'Set them to https addresses.');
      return ok('are all https');
    },
  },
  {
    name: 'addresses that own databases see',
    run: async ({ environment: { VERIFIER_IP_A, VERIFIER_IP_B } }) =>
      VERIFIER_IP_A && VERIFIER_IP_B
        ? ok(`${VERIFIER_IP_A}, ${VERIFIER_IP_B}`)
        : warning(
            'are not fixed, so customers cannot let them in',
            'Set egress=nat if projects are to bring databases.',
          ),
  },
  {
    name: 'mail provider',
    run: async (target) => {
      const key = (await secretOf(target, 'MAIL_PROVIDER_KEY', 'MAIL_PROVIDER_SECRET_ARN')).trim();
      if (!hasShape('mailProviderSecret')(key))
        return warning('is not asked, as there is no key', 'Put a key of it in its secret.');
      const { MAIL_PROVIDER_URL = provider, EMAIL_FROM } = target.environment;
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${MAIL_PROVIDER_URL}/domains`, { headers, signal: AbortSignal.timeout(answerMs) });
      const { name, data = [] } = (await response.json()) as Domains;
      if (name === 'restricted_api_key') return ok('takes the key, which may send and nothing else');
      if (!response.ok)
        return failed(`answers ${response.status} to the key`, 'Make a key there and put it in the secret.');
      if (target.local) return ok('takes the key');
      if (!EMAIL_FROM) return warning('takes the key, but nobody sends: EMAIL_FROM is not set', 'Set emailFrom.');
      const domain = data.find((known) => known.name === domainOf(EMAIL_FROM));
      return domain?.status === 'verified'
        ? ok(`takes the key, and mails from ${domain.name}`)
        : failed(`has not verified ${domainOf(EMAIL_FROM)}, the domain of EMAIL_FROM`, 'Verify the domain there.');
    },
  },
];
