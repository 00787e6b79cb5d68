/** The same types for what the tests use of both. */
declare module "express-4" {
  import express from "express";
  export default express;
}
