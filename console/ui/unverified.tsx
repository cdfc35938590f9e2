import type { ComponentChildren } from 'preact';
import { useQuery } from '../api/query.ts';
import { request } from '../api/request.ts';
import { developer } from '../api/session.ts';
import { t } from '../text/words.ts';
import { Act } from './act.tsx';
import { say } from './toast.tsx';

const Asking = ({ otherwise }: { readonly otherwise: ComponentChildren }) => {
  const { data } = useQuery('get-developer', {}).value;
  if (!data || data.emailVerified) return otherwise;
  const { email } = data;
  return (
    <div class="note row banner">
      <span>{t.account.unverified(email)}</span>
      <Act
        onAct={async () => {
          await request('resend-developer-verification', { body: { email } });
          say(t.reset.asked(email));
        }}
      >
        {t.account.resend}
      </Act>
    </div>
  );
};

/** Asks developers to verify their address, with a button that sends the email again; `otherwise` if it is verified. */
export const Unverified = ({ otherwise = null }: { readonly otherwise?: ComponentChildren }) =>
  developer.value?.emailVerified === false ? <Asking otherwise={otherwise} /> : otherwise;
