/** Who does what is asked behind the admin token, in the audit log: there is one token, so there is one actor. */
export const ACTOR = "admin-token";
