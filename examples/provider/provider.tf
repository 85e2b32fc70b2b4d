provider "hadr" {
  region = "eu-central-1"

  default_tags = {
    tags = { team = "databases" }
  }
}
