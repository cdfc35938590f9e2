import { t } from '../text/words.ts';
import { Field, type FieldProps } from './field.tsx';

type Props = Pick<FieldProps, 'value' | 'onInput' | 'wrong'>;

/** The address that an account is signed in with; `own` where it is the reader's, or a passkey of theirs is offered. */
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

/** A password that is there already. */
export const PasswordField = ({ label = t.signIn.password, ...field }: Props & { readonly label?: string }) => (
  <Field label={label} type="password" autocomplete="current-password" required {...field} />
);

/** A password that is to be set, with the rule that it has to keep. */
export const NewPasswordField = ({ label = t.signIn.password, ...field }: Props & { readonly label?: string }) => (
  <Field label={label} hint={t.signUp.password} type="password" autocomplete="new-password" required {...field} />
);
