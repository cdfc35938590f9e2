import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { users } from '../../text/users.ts';
import { t } from '../../text/words.ts';
import { EmailField } from '../../ui/account-fields.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { say } from '../../ui/toast.tsx';
import { leaving } from '../../ui/unsaved.tsx';
import { userName } from './user-name.ts';

/** Changes a user's email or password. Empty fields stay unchanged. */
export const EditUser = ({
  projectId,
  user,
  onClose,
}: {
  readonly projectId: string;
  readonly user: Data<'get-user'>;
  readonly onClose: () => void;
}) => {
  const present = typeof user.email === 'string' ? user.email : '';
  const { draft, set } = useDraft({ email: present, password: '' });
  const submit = async () => {
    const { email, password } = draft.value;
    const body = { ...(email === present ? {} : { email }), ...(password ? { password } : {}) };
    if (Object.keys(body).length > 0) await request('update-user', { projectId, id: user._id, body });
    onClose();
    say(t.documents.saved);
  };
  return (
    <Dialog title={userName(user)} onClose={() => leaving(onClose)}>
      <Form guarded act={t.acts.save} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {(wrong) => (
          <>
            <EmailField
              required={present !== ''}
              value={draft.value.email}
              onInput={set('email')}
              wrong={wrong('email')}
            />
            <Field
              label={t.reset.password}
              hint={users.passwordWhy}
              type="password"
              autocomplete="new-password"
              value={draft.value.password}
              onInput={set('password')}
              wrong={wrong('password')}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
};
