import { useLocation } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import { signedIn } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { EmailField, PasswordField } from '../../ui/account-fields.tsx';
import { Alone } from '../../ui/alone.tsx';
import { useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { GithubButton } from './github-button.tsx';
import { placeAfter } from './place-after.ts';

export const SignIn = () => {
  const { query, route } = useLocation();
  const { draft, set } = useDraft({ email: '', password: '' });
  const submit = async () => {
    const { data } = await request('sign-in-developer', { body: draft.value });
    signedIn(data);
    route(placeAfter(query.to), true);
  };
  return (
    <Alone title={t.signIn.title}>
      <Form act={t.signIn.act} onSubmit={submit}>
        {(wrong) => (
          <>
            <EmailField own value={draft.value.email} onInput={set('email')} wrong={wrong('email')} />
            <PasswordField value={draft.value.password} onInput={set('password')} wrong={wrong('password')} />
          </>
        )}
      </Form>
      <GithubButton to={query.to} />
      <p class="muted">
        {t.signIn.newHere} <a href="/sign-up">{t.signIn.signUp}</a> · <a href="/reset-password">{t.signIn.forgot}</a>
      </p>
    </Alone>
  );
};
