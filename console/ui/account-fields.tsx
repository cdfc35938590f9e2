import { t } from '../text/words.ts';
import { Field, type FieldProps } from './field.tsx';

type Props = Pick<FieldProps, 'value' | 'onInput' | 'wrong'>;

/** The email of an account; `own` if it is the reader's own, so that the browser offers it or a passkey. */
export const EmailField = ({
  own,
  ...field
}: Props & Pick<FieldProps, 'required'> & { readonly own?: true | 'or a passkey' }) => (
  <Field
    label={t.signIn.email}
    type="email"
    {...(own ? { autocomplete: own === true ? 'username' : 'username webauthn' } : {})}
    required
    {...field}
  />
);

export const PasswordField = ({ label = t.signIn.password, ...field }: Props & { readonly label?: string }) => (
  <Field label={label} type="password" autocomplete="current-password" required {...field} />
);

/** A new password, with its requirements. */
export const NewPasswordField = ({ label = t.signIn.password, ...field }: Props & { readonly label?: string }) => (
  <Field label={label} hint={t.signUp.password} type="password" autocomplete="new-password" required {...field} />
);
