import { useLocation } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import { signedIn } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { EmailField, NewPasswordField } from '../../ui/account-fields.tsx';
import { Alone } from '../../ui/alone.tsx';
import { useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { say } from '../../ui/toast.tsx';
import { GithubButton } from './github-button.tsx';

export const SignUp = () => {
  const { route } = useLocation();
  const { draft, set } = useDraft({ email: '', password: '' });
  const submit = async () => {
    const { data } = await request('sign-up-developer', { body: draft.value });
    signedIn(data);
    say(t.signUp.confirm);
    route('/', true);
  };
  return (
    <Alone title={t.signUp.title}>
      <Form act={t.signUp.act} onSubmit={submit}>
        {(wrong) => (
          <>
            <EmailField own value={draft.value.email} onInput={set('email')} wrong={wrong('email')} />
            <NewPasswordField value={draft.value.password} onInput={set('password')} wrong={wrong('password')} />
          </>
        )}
      </Form>
      <GithubButton />
      <p class="muted">
        {t.signUp.have} <a href="/sign-in">{t.signIn.act}</a>
      </p>
    </Alone>
  );
};
