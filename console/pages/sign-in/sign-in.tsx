import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { EmailField, PasswordField } from '../../ui/account-fields.tsx';
import { Alone } from '../../ui/alone.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { enter } from './enter.ts';
import { GithubButton } from './github-button.tsx';
import { PasskeySignIn } from './passkey-sign-in.tsx';
import { placeAfter } from './place-after.ts';
import { SecondStep } from './second-step.tsx';

export const SignIn = () => {
  const { query, route } = useLocation();
  const { draft, set } = useDraft({ email: '', password: '' });
  const ticket = useSignal<string | undefined>(undefined);
  const goOn = () => route(placeAfter(query.to), true);
  const submit = async () => {
    ticket.value = await enter(request('sign-in-developer', { body: draft.value }), goOn);
  };
  if (ticket.value !== undefined) return <SecondStep ticket={ticket.value} onDone={goOn} />;
  return (
    <Alone title={t.signIn.title}>
      <div class="sign-in stack">
        <Form act={t.signIn.act} onSubmit={submit}>
          {(wrong) => (
            <>
              <EmailField own="or a passkey" value={draft.value.email} onInput={set('email')} wrong={wrong('email')} />
              <div class="with-aside">
                <PasswordField value={draft.value.password} onInput={set('password')} wrong={wrong('password')} />
                <a class="small aside" href="/reset-password">
                  {t.signIn.forgot}
                </a>
              </div>
            </>
          )}
        </Form>
        <p class="or small muted">{t.signIn.or}</p>
        <PasskeySignIn onDone={goOn} />
        <GithubButton to={query.to} />
        <LinkButton href={`/auth/code${query.to ? `?to=${encodeURIComponent(query.to)}` : ''}`}>
          {t.signIn.byCode}
        </LinkButton>
        <p class="muted">
          {t.signIn.newHere} <a href="/sign-up">{t.signIn.signUp}</a>
        </p>
      </div>
    </Alone>
  );
};
