/** What is wrong with a value, or with values together; read aloud as it comes. */
export const Wrong = ({ id, text }: { readonly id?: string; readonly text: string | undefined }) =>
  text ? (
    <span id={id} class="wrong small" role="alert">
      {text}
    </span>
  ) : null;
