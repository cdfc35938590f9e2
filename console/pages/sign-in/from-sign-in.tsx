import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { placeAfter } from './place-after.ts';

/** From the sign-in to where somebody wanted to be, who is signed in already. */
export const FromSignIn = () => {
  const { query, route } = useLocation();
  const to = placeAfter(query.to);
  useEffect(() => route(to, true), [to, route]);
  return null;
};
